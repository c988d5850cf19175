// Package kerberos authenticates connections to HBase's servers. It does the SASL exchange as HBase's RPC frames it:
// GSSAPI with tickets from gokrb5, or DIGEST-MD5 with a delegation token. The server proves its identity to the client
// too. Messages after the exchange are signed or encrypted if the server wants that or Config.Protection does.
package kerberos
