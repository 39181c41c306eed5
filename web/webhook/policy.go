// Package webhook sends signed messages to addresses that the operator allowed, and to
// no others.
package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Public is what --webhook-allow says for all public addresses.
const Public = "public"

// MaxURL bounds an address, in bytes.
const MaxURL = 2000

// Policy says where messages may go. The zero value allows nothing.
type Policy struct {
	public   bool
	hosts    []string // in small letters, as they stand in a URL
	prefixes []netip.Prefix
}

// ParsePolicy reads the values of --webhook-allow: "public", addresses, networks as
// 10.0.0.0/8, and names of hosts.
func ParsePolicy(list []string) (Policy, error) {
	var p Policy
	for _, entry := range list {
		entry = strings.ToLower(strings.TrimSpace(entry))
		switch {
		case entry == "":
		case entry == Public:
			p.public = true
		case strings.Contains(entry, "/"):
			prefix, err := netip.ParsePrefix(entry)
			if err != nil || prefix.Addr().Is4In6() {
				return Policy{}, fmt.Errorf("%q is no network such as 10.1.0.0/16", entry)
			}
			p.prefixes = append(p.prefixes, prefix.Masked())
		default:
			if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
				ip = ip.Unmap().WithZone("")
				p.prefixes = append(p.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
				continue
			}
			if strings.ContainsFunc(entry, notOfHosts) {
				return Policy{}, fmt.Errorf("%q is neither %q nor a host, an address or a network; leave scheme and port out", entry, Public)
			}
			p.hosts = append(p.hosts, strings.TrimSuffix(entry, "."))
		}
	}
	return p, nil
}

// notOfHosts are the characters that no name of a host has in a URL.
func notOfHosts(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
}

// Off reports whether no message may go anywhere.
func (p Policy) Off() bool { return !p.public && len(p.hosts) == 0 && len(p.prefixes) == 0 }

// The reasons for which an address is refused.
var (
	ErrURL       = errors.New("this is no http or https address of at most 2000 characters, without a user and without a fragment")
	ErrPlain     = errors.New("http is only for hosts and addresses that --webhook-allow lists; use https")
	ErrForbidden = errors.New("--webhook-allow does not let messages go there")
)

// Check reads the address of a webhook and says whether it can be allowed. A name that
// is not listed counts as allowed here where any address is: what it means is known
// only when it is dialled, and is looked at then.
func (p Policy) Check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxURL || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, ErrURL
	}
	ip, err := netip.ParseAddr(u.Hostname())
	listed := p.lists(u.Hostname()) || err == nil && p.within(ip)
	switch {
	case listed:
		return u, nil
	case u.Scheme == "http":
		return nil, ErrPlain
	case err == nil && !p.allows(ip), p.Off(), !p.public && len(p.prefixes) == 0:
		return nil, ErrForbidden
	}
	return u, nil
}

// lists reports whether a host is listed by name, wherever that leads.
func (p Policy) lists(host string) bool {
	return slices.Contains(p.hosts, strings.TrimSuffix(strings.ToLower(host), "."))
}

// within reports whether an address is in one of the networks.
func (p Policy) within(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return slices.ContainsFunc(p.prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(ip) })
}

// allows reports whether an address may be dialled for a host that is not listed.
func (p Policy) allows(ip netip.Addr) bool { return p.within(ip) || p.public && isPublic(ip) }

// special are networks that netip does not tell apart and that lead to no public host,
// or to one that the address does not show: the special-purpose registries of IANA
// (RFC 6890 and what came after).
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"2001::/23",     // protocol assignments, Teredo among them, which holds an IPv4 address
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, which holds an IPv4 address
	"3fff::/20",     // documentation
)

// unicast6 are the IPv6 addresses that are handed out. What is outside of it, such as
// 64:ff9b::/96 with an IPv4 address inside, is not public.
var unicast6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is6() && !unicast6.Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(special, func(prefix netip.Prefix) bool { return prefix.Contains(ip) })
}
