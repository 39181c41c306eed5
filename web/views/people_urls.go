package views

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"
)

// SignInURL is the form for people with an account.
func SignInURL(root Root) templ.SafeURL { return HomeURL(root) + "sign-in" }

// SignOutURL ends the session of a browser.
func SignOutURL(root Root) templ.SafeURL { return HomeURL(root) + "sign-out" }

// AccountURL is what somebody with an account sees of itself.
func AccountURL(root Root) templ.SafeURL { return HomeURL(root) + "account" }

// InvitationURL is the form behind a link that works once.
func InvitationURL(root Root, token string) templ.SafeURL {
	return HomeURL(root) + templ.SafeURL("invitations/"+url.PathEscape(token))
}

// PeopleURL lists who has an account.
func PeopleURL(root Root) templ.SafeURL { return HomeURL(root) + "people" }

// InviteURL is where the form for a new link posts to.
func InviteURL(root Root) templ.SafeURL { return PeopleURL(root) + "/invitations" }

// InvitationCancelURL ends a link that nobody has used.
func InvitationCancelURL(root Root, id int64) templ.SafeURL {
	return InviteURL(root) + templ.SafeURL("/"+strconv.FormatInt(id, 10)+"/cancel")
}

// PersonURL is what an owner can do about one person.
func PersonURL(root Root, id int64) templ.SafeURL {
	return PeopleURL(root) + templ.SafeURL("/"+strconv.FormatInt(id, 10))
}

// AuditURL is the log of accounts, from before an entry; 0: from the newest.
func AuditURL(root Root, before int64) templ.SafeURL {
	u := PeopleURL(root) + "/log"
	if before != 0 {
		u += templ.SafeURL("?before=" + strconv.FormatInt(before, 10))
	}
	return u
}
