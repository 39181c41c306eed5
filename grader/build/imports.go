package build

import (
	"strings"

	"redeliver/grader/guest"
)

// standardPackages are the packages of the standard library that a submission
// may import, sorted. Left out are those that packs.md names, those that need
// them (net/http brings net/rpc, expvar, …), those that only make sense with
// cgo or a network, and what is for tests. A list and not a rule, so that the
// same submission is accepted whichever release of Go the server uses.
const standardPackages = `
archive/tar archive/zip bufio bytes cmp compress/bzip2 compress/flate compress/gzip compress/lzw
compress/zlib container/heap container/list container/ring context crypto crypto/aes crypto/cipher
crypto/des crypto/dsa crypto/ecdh crypto/ecdsa crypto/ed25519 crypto/elliptic crypto/fips140
crypto/hkdf crypto/hmac crypto/hpke crypto/md5 crypto/mlkem crypto/pbkdf2 crypto/rand crypto/rc4
crypto/rsa crypto/sha1 crypto/sha256 crypto/sha3 crypto/sha512 crypto/subtle crypto/x509
crypto/x509/pkix database/sql database/sql/driver debug/buildinfo debug/dwarf debug/elf
debug/gosym debug/macho debug/pe debug/plan9obj encoding encoding/ascii85 encoding/asn1
encoding/base32 encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex
encoding/json encoding/pem encoding/xml errors flag fmt go/ast go/constant go/format go/parser
go/printer go/scanner go/token go/types go/version hash hash/adler32 hash/crc32 hash/crc64
hash/fnv hash/maphash html html/template image image/color image/color/palette image/draw
image/gif image/jpeg image/png index/suffixarray io io/fs io/ioutil iter log log/slog maps math
math/big math/bits math/cmplx math/rand math/rand/v2 mime mime/multipart mime/quotedprintable
net/mail net/netip net/textproto net/url os os/signal os/user path path/filepath reflect regexp
regexp/syntax runtime runtime/metrics runtime/pprof runtime/trace slices sort strconv strings
structs sync sync/atomic text/scanner text/tabwriter text/template text/template/parse time
time/tzdata unicode unicode/utf16 unicode/utf8 unique weak
`

// gatewayPackage is the client of the payment gateway, a package of ours.
const gatewayPackage = "redeliver/gateway"

// importable returns every package that a submission may import.
func importable() map[string]bool {
	set := map[string]bool{gatewayPackage: true}
	for _, p := range strings.Fields(standardPackages) {
		set[p] = true
	}
	for _, m := range guest.Modules() {
		for _, p := range m.Packages {
			set[p] = true
		}
	}
	return set
}

// importAdvice says what may be imported, for people whose import was refused.
func importAdvice() string {
	var ours []string
	for _, m := range guest.Modules() {
		ours = append(ours, m.Packages...)
	}
	ours = append(ours, gatewayPackage)
	return "Allowed are " + strings.Join(ours, ", ") +
		" and the standard library without os/exec, net, net/http, plugin, syscall, unsafe, runtime/debug, embed, testing and packages that need these."
}
