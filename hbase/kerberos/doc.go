// Package kerberos authenticates connections to HBase's servers. It performs the SASL exchange in HBase's RPC framing:
// GSSAPI with tickets from gokrb5, or DIGEST-MD5 with a delegation token. The server proves its identity to the client
// too. Messages after the exchange are signed or encrypted if the server or Config.Protection requires that.
package kerberos
