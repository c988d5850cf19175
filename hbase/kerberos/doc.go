// Package kerberos authenticates connections to HBase's servers. It does the SASL exchange (GSSAPI) as HBase's RPC
// frames it, with tickets from gokrb5. The server proves its identity to the client too.
//
// Messages after the exchange are neither signed nor encrypted: hbase.rpc.protection must allow "authentication".
package kerberos
