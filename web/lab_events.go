package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// labEvents tells a page that its lab is another one than the page shows: an action
// in another tab, or the end of a lab that nobody used. The page then takes the
// stage out of itself.
func (s *Server) labEvents(c echo.Context) error {
	slug, err := s.labSlug(c)
	if err != nil {
		return err
	}
	after, err := lastSeen(c.Request())
	if err != nil {
		return err
	}
	visitor := string(s.browser(c))
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return echo.NewHTTPError(http.StatusServiceUnavailable)
	}
	es := &eventStream{s: s, c: c, control: http.NewResponseController(c.Response())}
	if err := es.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), streamTime)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		state, changed := s.rooms.Look(visitor, slug)
		version := int64(0)
		if state != nil {
			version = int64(state.Version)
		}
		switch {
		case version != after:
			after = version
			if err := es.send(fmt.Sprintf("id: %d\nevent: changed\ndata: %d\n\n", version, version)); err != nil {
				return err
			}
		case time.Since(es.wrote) > silence:
			if err := es.send(": still here\n\n"); err != nil {
				return err
			}
		}
		select {
		case <-changed: // nil, which never comes, without a lab
		case <-tick.C:
		case <-ctx.Done():
			return nil
		case <-s.closing:
			return nil
		}
	}
}
