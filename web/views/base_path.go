package views

import (
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/a-h/templ"

	"redeliver/static"
)

// BasePath is what stands before every path of the site, on a host that it shares
// with others: "/redeliver", or "" on a host of its own.
type BasePath string

// UnmarshalText reads what an operator has written; "/" means none, like "". Whatever
// would stand in an address in another form than here is refused: proxies, routes and
// browsers compare it byte by byte.
func (b *BasePath) UnmarshalText(text []byte) error {
	s := string(text)
	switch {
	case s == "" || s == "/":
		*b = ""
		return nil
	case s[0] != '/':
		return errors.New("it has to begin with a slash: /redeliver")
	case strings.HasSuffix(s, "/"):
		return errors.New("it has no slash at its end: /redeliver")
	case strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(unreserved+"/", r) }):
		return errors.New("it has letters from a to z, digits and the characters - . _ ~ between its slashes, and nothing else: /redeliver")
	case path.Clean(s) != s:
		return errors.New("it has neither empty parts nor . nor .. in it: /redeliver")
	}
	switch s {
	case "/healthz", "/readyz", "/metrics":
		return errors.New("at " + s + " the site answers whoever watches it; choose another one: /redeliver")
	}
	*b = BasePath(s)
	return nil
}

// unreserved are the characters that mean themselves wherever they stand in an address.
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// Cut returns a path of a request without the prefix; ok is false for one that is none
// of the site's.
func (b BasePath) Cut(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, string(b))
	return rest, ok && strings.HasPrefix(rest, "/")
}

// In is where the addresses in a language begin.
func (b BasePath) In(lang string) Root {
	return Root{string(b) + "/" + url.PathEscape(lang) + "/"}
}

// apiDescription is the description of what programs can ask, for machines.
func (b BasePath) apiDescription() templ.SafeURL { return templ.SafeURL(b) + "/api/v1/openapi.json" }

// asset is the address of a static file.
func (b BasePath) asset(name string) string { return string(b) + static.URL(name) }

// Root is where the addresses of a page begin: the site's prefix, a language and,
// inside of a sitting, the way there. Every address is made of one, and only a BasePath
// makes one, so that no link can forget the prefix.
type Root struct {
	path string // with a slash at both ends
}

// Within is the root of what lies in a place behind r, as Page.Within says it.
func (r Root) Within(place string) Root { return Root{r.path + place} }
