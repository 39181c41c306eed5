package clock_test

import (
	"testing"
	"time"

	"redeliver/web/clock"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func span(from, to int) clock.Span { return clock.Span{From: at(from), To: at(to)} }

func vain(from, to int) clock.Span { return clock.Span{From: at(from), To: at(to), Vain: true} }

// Numbers are minutes after the start.
func TestRead(t *testing.T) {
	t.Parallel()
	hour := clock.Limit{Start: noon, Time: time.Hour}
	for name, tc := range map[string]struct {
		limit     clock.Limit
		spans     []clock.Span
		deadline  int // 0: none
		givenBack int
	}{
		"NothingHappened":             {hour, nil, 60, 0},
		"QueueIsGivenBack":            {hour, []clock.Span{span(10, 12)}, 62, 2},
		"TwoQueues":                   {hour, []clock.Span{span(10, 12), span(30, 31)}, 63, 3},
		"OverlapCountsOnce":           {hour, []clock.Span{span(10, 14), span(12, 16)}, 66, 6},
		"OneInsideTheOther":           {hour, []clock.Span{span(10, 20), span(12, 13)}, 70, 10},
		"TheSameTwice":                {hour, []clock.Span{span(10, 12), span(10, 12)}, 62, 2},
		"Touching":                    {hour, []clock.Span{span(10, 12), span(12, 14)}, 64, 4},
		"InAnyOrder":                  {hour, []clock.Span{span(30, 31), span(10, 14), span(12, 16)}, 67, 7},
		"OutageAndQueueTogether":      {hour, []clock.Span{span(20, 25), span(22, 40), span(24, 26)}, 80, 20},
		"BeforeTheStartIsNotOurs":     {hour, []clock.Span{span(-30, -10)}, 60, 0},
		"BegunBeforeTheStart":         {hour, []clock.Span{span(-30, 5)}, 65, 5},
		"DownAcrossTheEnd":            {hour, []clock.Span{span(55, 120)}, 125, 65},
		"AfterTheEnd":                 {hour, []clock.Span{span(60, 70)}, 60, 0},
		"InTheTimeThatWasGivenBack":   {hour, []clock.Span{span(10, 12), span(61, 64)}, 65, 5},
		"AfterTheTimeGivenBack":       {hour, []clock.Span{span(10, 12), span(62, 64)}, 62, 2},
		"NoTimeAtAll":                 {hour, []clock.Span{span(10, 10), span(12, 11)}, 60, 0},
		"WithoutLimit":                {clock.Limit{Start: noon}, []clock.Span{span(10, 12)}, 0, 2},
		"UntilClosing":                {clock.Limit{Start: noon, Latest: at(300)}, []clock.Span{span(10, 12)}, 302, 2},
		"InVain":                      {hour, []clock.Span{span(10, 12), vain(12, 15)}, 65, 5},
		"InVainTooLong":               {hour, []clock.Span{vain(10, 18), vain(30, 38), vain(40, 48)}, 70, 10},
		"InVainBesideAnOutage":        {hour, []clock.Span{vain(10, 30), span(12, 28)}, 80, 20},
		"InVainBetweenOutages":        {hour, []clock.Span{span(10, 12), vain(8, 40), span(20, 22)}, 74, 14},
		"InVainAcrossTheEnd":          {hour, []clock.Span{vain(55, 90), span(90, 100)}, 70, 10},
		"QueueAfterTheMostOfInVain":   {hour, []clock.Span{vain(10, 30), span(40, 50)}, 80, 20},
		"ClosingDoesNotCutATimeShort": {clock.Limit{Start: noon, Time: time.Hour, Latest: at(30)}, nil, 60, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.limit.Read(tc.spans)
			var want time.Time
			if tc.deadline != 0 {
				want = at(tc.deadline)
			}
			if !got.Deadline.Equal(want) || got.GivenBack != time.Duration(tc.givenBack)*time.Minute {
				t.Errorf("deadline %v, given back %v; want %v, %d min", got.Deadline, got.GivenBack, want, tc.givenBack)
			}
		})
	}
}

// While something waits the time that is left stands still.
func TestWaitingStopsTheClock(t *testing.T) {
	t.Parallel()
	hour := clock.Limit{Start: noon, Time: time.Hour}
	for now := 50; now < 500; now += 50 {
		r := hour.Read([]clock.Span{span(50, now)})
		if left := r.Left(at(now)); left != 10*time.Minute || r.Over(at(now)) {
			t.Errorf("minute %d: %v left, over %v", now, left, r.Over(at(now)))
		}
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	r := clock.Limit{Start: noon, Time: time.Hour}.Read(nil)
	for minute, over := range map[int]bool{59: false, 60: true, 61: true} {
		if r.Over(at(minute)) != over {
			t.Errorf("minute %d: over is %v", minute, !over)
		}
	}
	if left := r.Left(at(61)); left != 0 {
		t.Errorf("%v left", left)
	}
	if (clock.Reading{}).Over(at(1000)) {
		t.Error("what has no deadline is over")
	}
}
