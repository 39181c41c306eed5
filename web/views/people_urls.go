package views

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"
)

// SignInURL is the form for people with an account.
func SignInURL(lang string) templ.SafeURL { return HomeURL(lang) + "sign-in" }

// SignOutURL ends the session of a browser.
func SignOutURL(lang string) templ.SafeURL { return HomeURL(lang) + "sign-out" }

// AccountURL is what somebody with an account sees of itself.
func AccountURL(lang string) templ.SafeURL { return HomeURL(lang) + "account" }

// InvitationURL is the form behind a link that works once.
func InvitationURL(lang, token string) templ.SafeURL {
	return HomeURL(lang) + templ.SafeURL("invitations/"+url.PathEscape(token))
}

// PeopleURL lists who has an account.
func PeopleURL(lang string) templ.SafeURL { return HomeURL(lang) + "people" }

// InviteURL is where the form for a new link posts to.
func InviteURL(lang string) templ.SafeURL { return PeopleURL(lang) + "/invitations" }

// InvitationCancelURL ends a link that nobody has used.
func InvitationCancelURL(lang string, id int64) templ.SafeURL {
	return InviteURL(lang) + templ.SafeURL("/"+strconv.FormatInt(id, 10)+"/cancel")
}

// PersonURL is what an owner can do about one person.
func PersonURL(lang string, id int64) templ.SafeURL {
	return PeopleURL(lang) + templ.SafeURL("/"+strconv.FormatInt(id, 10))
}

// AuditURL is the log of accounts, from before an entry; 0: from the newest.
func AuditURL(lang string, before int64) templ.SafeURL {
	u := PeopleURL(lang) + "/log"
	if before != 0 {
		u += templ.SafeURL("?before=" + strconv.FormatInt(before, 10))
	}
	return u
}
