package store

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// master serves the calls to the master. Procedures are finished when their call returns.
func (s *Store) master(req proto.Message) (proto.Message, error) {
	switch m := req.(type) {
	case *pb.GetTableDescriptorsRequest:
		return s.describe(m)
	case *pb.GetTableNamesRequest:
		return s.tableNames(m)
	case *pb.CreateTableRequest:
		return &pb.CreateTableResponse{ProcId: proto.Uint64(1)}, s.createTable(m)
	case *pb.DeleteTableRequest:
		return &pb.DeleteTableResponse{ProcId: proto.Uint64(1)}, s.deleteTable(m.GetTableName())
	case *pb.EnableTableRequest:
		return &pb.EnableTableResponse{ProcId: proto.Uint64(1)}, s.setDisabled(m.GetTableName(), false)
	case *pb.DisableTableRequest:
		return &pb.DisableTableResponse{ProcId: proto.Uint64(1)}, s.setDisabled(m.GetTableName(), true)
	case *pb.GetProcedureResultRequest:
		return &pb.GetProcedureResultResponse{State: pb.GetProcedureResultResponse_FINISHED.Enum()}, nil
	case *pb.GetClusterStatusRequest:
		return &pb.GetClusterStatusResponse{ClusterStatus: s.clusterStatus()}, nil
	case *pb.CoprocessorServiceRequest:
		return nil, throw(classUnknownProtocol, "No registered coprocessor service found for %s", m.GetCall().GetServiceName())
	}
	return nil, throw(classUnsupported, "%T", req)
}

func nameOf(n *pb.TableName) string {
	return fullName(string(n.GetNamespace()), string(n.GetQualifier()))
}

// tableFor finds a table, or returns the master's exception for a missing one.
func (s *Store) tableFor(n *pb.TableName) (*table, error) {
	t, ok := s.catalog.lookup(nameOf(n))
	if !ok || t.meta {
		return nil, throw(classTableNotFound, "%s", nameOf(n))
	}
	return t, nil
}

func (s *Store) createTable(m *pb.CreateTableRequest) error {
	schema := m.GetTableSchema()
	r, err := newRecord(schema)
	if err != nil {
		return err
	}
	splits, err := splitKeys(m.GetSplitKeys())
	if err != nil {
		return err
	}
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	if _, ok := s.catalog.lookup(nameOf(schema.GetTableName())); ok {
		return throw(classTableExists, "%s", nameOf(schema.GetTableName()))
	}
	s.catalog.mu.Lock()
	r.ID = s.catalog.nextID
	s.catalog.nextID++
	s.catalog.mu.Unlock()
	id := s.newRegionID()
	var start []byte
	for _, k := range append(splits, nil) {
		r.Regions = append(r.Regions, regionRecord{ID: id, Start: start, Stop: k})
		start = k
	}
	return s.replace(nil, newTable(*r))
}

// validName reports whether s is valid as the name of a table or a namespace.
func validName(s string) bool {
	for i, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) && c != '_' && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return s != ""
}

// newRecord makes the definition of a table from its description; all attributes are kept.
func newRecord(schema *pb.TableSchema) (*record, error) {
	n := schema.GetTableName()
	r := &record{Namespace: string(n.GetNamespace()), Qualifier: string(n.GetQualifier())}
	if r.Namespace == "" {
		r.Namespace = "default"
	}
	if !validName(r.Qualifier) || !validName(r.Namespace) {
		for i, c := range r.Qualifier {
			if !validName("_" + string(c)) {
				return nil, illegalArgument("Illegal character code:%d, <%c> at %d. User-space table qualifiers may only contain 'alphanumeric characters' and digits: %s", c, c, i, r.Qualifier)
			}
		}
		return nil, illegalArgument("Illegal table name %q", nameOf(n))
	}
	for _, a := range schema.GetAttributes() {
		r.Attributes = append(r.Attributes, pair{a.GetFirst(), a.GetSecond()})
	}
	for _, c := range schema.GetConfiguration() {
		r.Configuration = append(r.Configuration, pair{[]byte(c.GetName()), []byte(c.GetValue())})
	}
	families := schema.GetColumnFamilies()
	if len(families) == 0 {
		return nil, throw(classDoNotRetry, "Table should have at least one column family.")
	}
	if len(families) > maxFamilies {
		return nil, throw(classDoNotRetry, "a table has at most %d column families", maxFamilies)
	}
	for i, f := range families {
		fr, err := newFamilyRecord(f)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.Families, func(o familyRecord) bool { return bytes.Equal(o.Name, fr.Name) }) {
			return nil, illegalArgument("Family '%s' already exists so cannot be added", fr.Name)
		}
		fr.ID = byte(i)
		r.Families = append(r.Families, fr)
	}
	return r, nil
}

// maxFamilies keeps family ids in one byte.
const maxFamilies = 200

func newFamilyRecord(f *pb.ColumnFamilySchema) (familyRecord, error) {
	name := f.GetName()
	if len(name) == 0 || len(name) > 127 || bytes.ContainsAny(name, ":/") || name[0] == '.' {
		return familyRecord{}, illegalArgument("Illegal family name %q", name)
	}
	r := familyRecord{Name: bytes.Clone(name)}
	for _, a := range f.GetAttributes() {
		r.Attributes = append(r.Attributes, pair{a.GetFirst(), a.GetSecond()})
	}
	for _, c := range f.GetConfiguration() {
		r.Configuration = append(r.Configuration, pair{[]byte(c.GetName()), []byte(c.GetValue())})
	}
	return r, nil
}

// splitKeys sorts the keys at which a new table is split.
func splitKeys(keys [][]byte) ([][]byte, error) {
	out := slices.SortedFunc(slices.Values(keys), bytes.Compare)
	for i, k := range out {
		if len(k) == 0 {
			return nil, illegalArgument("Empty split key must not be passed in the split keys.")
		}
		if i > 0 && bytes.Equal(k, out[i-1]) {
			return nil, illegalArgument("All split keys must be unique, found duplicate: %q", k)
		}
		out[i] = bytes.Clone(k)
	}
	return out, nil
}

func (s *Store) deleteTable(n *pb.TableName) error {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	t, err := s.tableFor(n)
	if err != nil {
		return err
	}
	if !t.disabled {
		return throw(classNotDisabled, "Not DISABLED; tableName=%s, state=ENABLED", t.name)
	}
	return s.replace(t, nil)
}

// setDisabled disables or enables a table; enabling reopens its regions.
func (s *Store) setDisabled(n *pb.TableName, disabled bool) error {
	s.catalog.ddl.Lock()
	defer s.catalog.ddl.Unlock()
	t, err := s.tableFor(n)
	if err != nil {
		return err
	}
	switch {
	case disabled && t.disabled:
		return throw(classNotEnabled, "%s", t.name)
	case !disabled && !t.disabled:
		return throw(classNotDisabled, "%s", t.name)
	}
	next := *t
	next.disabled = disabled
	next.regions = make([]*region, len(t.regions))
	for i, g := range t.regions {
		moved := *g
		next.regions[i] = openRegion(&moved)
	}
	return s.replace(t, &next)
}

// describe returns the definitions of the named tables that exist, or of all tables.
func (s *Store) describe(m *pb.GetTableDescriptorsRequest) (proto.Message, error) {
	resp := &pb.GetTableDescriptorsResponse{}
	if len(m.GetTableNames()) > 0 {
		for _, n := range m.GetTableNames() {
			if t, ok := s.catalog.lookup(nameOf(n)); ok {
				resp.TableSchema = append(resp.TableSchema, t.schema())
			}
		}
		return resp, nil
	}
	tables, err := s.matching(m.GetNamespace(), m.GetRegex(), m.GetIncludeSysTables())
	for _, t := range tables {
		resp.TableSchema = append(resp.TableSchema, t.schema())
	}
	return resp, err
}

func (s *Store) tableNames(m *pb.GetTableNamesRequest) (proto.Message, error) {
	tables, err := s.matching(m.GetNamespace(), m.GetRegex(), m.GetIncludeSysTables())
	resp := &pb.GetTableNamesResponse{}
	for _, t := range tables {
		resp.TableNames = append(resp.TableNames, tableName(t))
	}
	return resp, err
}

// matching lists tables by namespace and by a regular expression for the whole name;
// empty means any.
func (s *Store) matching(namespace, pattern string, system bool) ([]*table, error) {
	var re *regexp.Regexp
	if pattern != "" {
		var err error
		if re, err = regexp.Compile("^(?:" + pattern + ")$"); err != nil {
			return nil, illegalArgument("%v", err)
		}
	}
	var out []*table
	for _, t := range s.catalog.all() {
		if t.meta && !system || namespace != "" && t.namespace != namespace {
			continue
		}
		if re == nil || re.MatchString(t.name) || t.namespace == "default" && re.MatchString("default:"+t.name) {
			out = append(out, t)
		}
	}
	return out, nil
}

func (t *table) schema() *pb.TableSchema {
	m := &pb.TableSchema{TableName: tableName(t), Attributes: pairsProto(t.attributes), Configuration: stringsProto(t.configuration)}
	for _, f := range t.families {
		m.ColumnFamilies = append(m.ColumnFamilies, &pb.ColumnFamilySchema{Name: f.name,
			Attributes: pairsProto(f.attributes), Configuration: stringsProto(f.configuration)})
	}
	return m
}

func pairsProto(ps []pair) (out []*pb.BytesBytesPair) {
	for _, p := range ps {
		out = append(out, &pb.BytesBytesPair{First: p.Name, Second: p.Value})
	}
	return out
}

func stringsProto(ps []pair) (out []*pb.NameStringPair) {
	for _, p := range ps {
		out = append(out, &pb.NameStringPair{Name: proto.String(string(p.Name)), Value: proto.String(string(p.Value))})
	}
	return out
}

func (s *Store) clusterStatus() *pb.ClusterStatus {
	server := &pb.ServerName{HostName: proto.String(serverHost), Port: proto.Uint32(serverPort), StartCode: proto.Uint64(1)}
	load := &pb.ServerLoad{}
	for _, t := range s.catalog.all() {
		for _, g := range t.regions {
			load.RegionLoads = append(load.RegionLoads, &pb.RegionLoad{
				RegionSpecifier:   &pb.RegionSpecifier{Type: pb.RegionSpecifier_REGION_NAME.Enum(), Value: g.name},
				ReadRequestsCount: proto.Uint64(uint64(g.load.reads.Load())), WriteRequestsCount: proto.Uint64(uint64(g.load.writes.Load())),
			})
		}
	}
	return &pb.ClusterStatus{
		HbaseVersion: &pb.HBaseVersionFileContent{Version: proto.String("2.5.10")},
		LiveServers:  []*pb.LiveServerInfo{{Server: server, ServerLoad: load}},
		Master:       server,
		ClusterId:    &pb.ClusterId{ClusterId: proto.String(serverHost)},
	}
}
