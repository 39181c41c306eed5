package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"redeliver/web/labs"
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
		if version := versionOf(state); version != after {
			if !s.patient(ctx, ownSwap) {
				return nil
			}
			return es.send(fmt.Sprintf("id: %d\nevent: changed\ndata: %d\n\n", version, version))
		}
		if time.Since(es.wrote) > silence {
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

// ownSwap is how long a stream waits before it tells of a change. The tab that
// made the change closes its stream as soon as it has the new stage: without the
// wait it would replace the stage a second time, maybe under somebody's finger.
const ownSwap = time.Second

// patient waits and says whether the stream is still wanted.
func (s *Server) patient(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// versionOf is 0 without a lab.
func versionOf(state *labs.State) int64 {
	if state == nil {
		return 0
	}
	return int64(state.Version)
}
