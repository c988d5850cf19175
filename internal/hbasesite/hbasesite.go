// Package hbasesite reads the configuration file of HBase's clients, hbase-site.xml.
package hbasesite

import (
	"encoding/xml"
	"strings"
)

// Property is one property of a file.
type Property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
}

// Properties lists a file's properties in order, without the spaces around names and values. If a name occurs several
// times, the last one counts.
func Properties(text []byte) ([]Property, error) {
	var site struct {
		Properties []Property `xml:"property"`
	}
	if err := xml.Unmarshal(text, &site); err != nil {
		return nil, err
	}
	for i := range site.Properties {
		p := &site.Properties[i]
		p.Name, p.Value = strings.TrimSpace(p.Name), strings.TrimSpace(p.Value)
	}
	return site.Properties, nil
}
