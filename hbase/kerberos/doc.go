// Package kerberos authenticates connections to HBase's servers. It performs GSSAPI's exchange in HBase's RPC framing, with
// tickets from gokrb5. The server proves its identity to the client too. Messages after the exchange are signed or
// encrypted if the server or Config.Protection requires that.
package kerberos
