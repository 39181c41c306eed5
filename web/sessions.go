package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"redeliver/static"
	"redeliver/web/auth"
	"redeliver/web/store"
)

// sessionLifetime is how long a sign-in lasts at most; store.IdleSession is how
// long without a request.
const sessionLifetime = 14 * 24 * time.Hour

// The values of a session. The last two are there only until it is stored.
const (
	personValue   = "person"
	passwordValue = "password"
	networkValue  = "network"
)

// newSessions makes the manager of signed-in browsers. Who never signs in has no
// cookie and no row.
func (s *Server) newSessions() *scs.SessionManager {
	m := scs.New()
	m.Lifetime = sessionLifetime
	m.HashTokenInStore = true
	m.Store = sessionStore{s.store, s.cfg.Now}
	m.Codec = sessionCodec{}
	m.Cookie.Name, m.Cookie.Secure = s.hostOnly("session"), s.cfg.SecureCookies
	return m
}

// sessionCodec writes a session as sessionStore reads it.
type sessionCodec struct{}

type sessionRecord struct {
	Person   int64     `json:"person"`
	Proof    string    `json:"proof,omitempty"` // the hash that was compared with
	Network  string    `json:"network,omitempty"`
	Deadline time.Time `json:"deadline"`
}

// Encode writes the values that signIn has put.
func (sessionCodec) Encode(deadline time.Time, values map[string]any) ([]byte, error) {
	r := sessionRecord{Deadline: deadline}
	var ok [3]bool
	r.Person, ok[0] = values[personValue].(int64)
	r.Proof, ok[1] = values[passwordValue].(string)
	r.Network, ok[2] = values[networkValue].(string)
	if ok != [3]bool{true, true, true} {
		return nil, errors.New("a session without a person")
	}
	return json.Marshal(r)
}

// Decode reads what sessionStore has found.
func (sessionCodec) Decode(b []byte) (time.Time, map[string]any, error) {
	var r sessionRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return time.Time{}, nil, fmt.Errorf("read session: %w", err)
	}
	return r.Deadline, map[string]any{personValue: r.Person}, nil
}

// sessionStore keeps sessions as rows. A session is stored once, when somebody
// signs in: if every request stored it again, one that is under way while another
// one signs out would bring it back.
type sessionStore struct {
	st  *store.Store
	now func() time.Time
}

// errNoContext is for the methods that the manager calls for stores without a
// context.
var errNoContext = errors.New("sessions need a context")

func (s sessionStore) Find(string) ([]byte, bool, error)      { return nil, false, errNoContext }
func (s sessionStore) Commit(string, []byte, time.Time) error { return errNoContext }
func (s sessionStore) Delete(string) error                    { return errNoContext }

// FindCtx finds a session that has not ended.
func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	found, err := s.st.Session(ctx, token, s.now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	b, err := json.Marshal(sessionRecord{Person: found.Person, Deadline: found.Deadline})
	return b, true, err
}

// CommitCtx stores a new session.
func (s sessionStore) CommitCtx(ctx context.Context, token string, b []byte, _ time.Time) error {
	var r sessionRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	return s.st.CreateSession(ctx, store.SignIn{
		Session:  store.Session{TokenHash: token, Person: r.Person, Deadline: r.Deadline},
		Password: r.Proof, Network: r.Network,
	}, s.now())
}

// DeleteCtx ends a session.
func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.st.DeleteSession(ctx, token)
}

// personKey is where a request keeps who is signed in.
const personKey = "person"

// person is who is signed in; false for everybody without an account.
func (s *Server) person(c echo.Context) (store.Person, bool) {
	p, ok := c.Get(personKey).(store.Person)
	return p, ok
}

// actor is who is signed in, and from where.
func (s *Server) actor(c echo.Context) store.Actor {
	p, _ := s.person(c)
	return store.Actor{Person: p, Network: network(c.RealIP())}
}

// session finds out who is signed in. Without the cookie it does nothing at all, and
// to programs, who have tokens, it does not count.
func (s *Server) session(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		cookie, err := c.Cookie(s.sessions.Cookie.Name)
		if err != nil || cookie.Value == "" || s.isStatic(c) || s.isAPI(c) {
			return next(c)
		}
		ctx, err := s.sessions.Load(c.Request().Context(), cookie.Value)
		if err != nil {
			return fmt.Errorf("load session: %w", err)
		}
		id, ok := s.sessions.Get(ctx, personValue).(int64)
		if !ok {
			s.dropSessionCookie(ctx, c)
			return next(c)
		}
		p, err := s.store.Person(ctx, id)
		if errors.Is(err, store.ErrNotFound) { // removed between the two queries
			return next(c)
		}
		if err != nil {
			return err
		}
		c.SetRequest(c.Request().WithContext(ctx))
		c.Set(personKey, p)
		return next(c)
	}
}

func (s *Server) isStatic(c echo.Context) bool {
	return c.Path() == string(s.cfg.BasePath)+static.Prefix+"*"
}

// only lets people with one of the roles pass. Everybody else learns nothing: the
// page is not there.
func (s *Server) only(roles ...store.Role) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			p, ok := s.person(c)
			for _, r := range roles {
				if ok && p.Role == r {
					return next(c)
				}
			}
			return store.ErrNotFound
		}
	}
}

// signIn begins a session with a new token and ends the one that the browser
// had.
func (s *Server) signIn(c echo.Context, who auth.Known) error {
	ctx, err := s.sessions.Load(c.Request().Context(), "")
	if err == nil {
		err = s.sessions.RenewToken(ctx)
	}
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	s.sessions.Put(ctx, personValue, who.ID)
	s.sessions.Put(ctx, passwordValue, who.Password)
	s.sessions.Put(ctx, networkValue, network(c.RealIP()))
	token, expiry, err := s.sessions.Commit(ctx)
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	s.sessions.WriteSessionCookie(ctx, c.Response(), token, expiry)
	return nil
}

// dropSessionCookie makes the browser forget the session.
func (s *Server) dropSessionCookie(ctx context.Context, c echo.Context) {
	s.sessions.WriteSessionCookie(ctx, c.Response(), "", time.Time{})
}

// signedOutTo sends the browser on after its session has ended.
func (s *Server) signedOutTo(c echo.Context, address string) error {
	s.dropSessionCookie(c.Request().Context(), c)
	return c.Redirect(http.StatusSeeOther, address)
}
