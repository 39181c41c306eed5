package web

import (
	"context"
	"fmt"
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
	return s.serveEvents(c, func(ctx context.Context, es *eventStream) (<-chan struct{}, bool, error) {
		state, changed := s.rooms.Look(visitor, slug) // changed is nil, which never comes, without a lab
		version := versionOf(state)
		if version == after {
			return changed, false, nil
		}
		timer := time.NewTimer(ownSwap)
		defer timer.Stop()
		if !s.wait(ctx, nil, timer.C) {
			return nil, true, nil
		}
		return nil, true, es.send(fmt.Sprintf("id: %d\nevent: changed\ndata: %d\n\n", version, version))
	})
}

// ownSwap is how long a stream waits before it tells of a change. The tab that
// made the change closes its stream as soon as it has the new stage: without the
// wait it would replace the stage a second time, maybe under somebody's finger.
const ownSwap = time.Second

// versionOf is 0 without a lab.
func versionOf(state *labs.State) int64 {
	if state == nil {
		return 0
	}
	return int64(state.Version)
}
