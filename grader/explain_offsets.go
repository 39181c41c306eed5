package grader

import (
	"fmt"
	"strconv"
	"strings"

	"redeliver/grader/trace"
)

// beginning is an answer of StartOffset.
type beginning struct {
	step      int
	lane      string
	partition string // "readings/0"
	offset    int64
}

// beginnings lists the answers of StartOffset; see work.begins and run.returned.
func (e *evidence) beginnings() []beginning {
	var all []beginning
	asked := map[string]string{}
	for _, s := range e.steps {
		if s.Event == trace.Group {
			if _, rest, ok := strings.Cut(s.Text, " is assigned "); ok {
				asked[s.Lane], _, _ = strings.Cut(rest, " and asks StartOffset")
			}
		}
		text, ok := strings.CutPrefix(s.Text, "StartOffset returns ")
		if at, err := strconv.ParseInt(strings.TrimSuffix(text, "."), 10, 64); ok && s.Event == trace.Return && err == nil {
			all = append(all, beginning{s.Step, s.Lane, asked[s.Lane], at})
		}
	}
	return all
}

func (d *delivery) place() string { return partition{d.record.Topic, d.record.Partition}.String() }

// positionBehind: the reading was added for good, and StartOffset answered a place
// before it.
func positionBehind(e *evidence) *story {
	if e.entry != "offsets" {
		return nil
	}
	first, second := e.repeated()
	if first == nil || first.delivery == second.delivery || steadyLane(first.lane) != steadyLane(second.lane) {
		return nil
	}
	var start *beginning
	for _, b := range e.beginnings() {
		if b.lane == second.lane && b.step > first.step && b.step < second.step && b.partition == second.delivery.place() {
			start = &b
		}
	}
	if start == nil {
		return nil
	}
	came := e.begunAgain(first)
	stored := writes(e.keptIn(first.delivery), e.positionTable(first, second))
	var why string
	switch {
	case e.positionTable(first, second) == "":
		why = fmt.Sprintf("%s was durable, and no statement stores how far the readings are added.", capital(first.label))
	case stored == nil:
		why = fmt.Sprintf("%s was durable, the position behind it was not: the two are not in one transaction.", capital(first.label))
	default:
		why = fmt.Sprintf("%s had stored a position, but not that of the next reading.", capital(stored.label))
	}
	s := &story{
		name: "position behind", acts: []*act{first, second}, steps: []int{start.step}, key: keyOf(first, second),
		short: fmt.Sprintf("%s was durable, and StartOffset returned %d, so the reading came again", first.label, start.offset),
	}
	s.text = sentences(came, why, fmt.Sprintf("StartOffset returned %d, so the reading at offset %d came again and %s added it once more.",
		start.offset, second.delivery.Offset, second.label))
	return s
}

// begunAgain says why StartOffset was asked again after a delivery.
func (e *evidence) begunAgain(first *act) string {
	switch {
	case strings.HasPrefix(first.delivery.Ended, "crashed"):
		return e.death(first.delivery) + "."
	case first.delivery.Ended == "returned an error":
		return "Handle returned an error, so the consumer asked StartOffset again."
	}
	if crash := e.crashAfter(first); crash != "" {
		return crash + "."
	}
	return "The partition was taken away and given back, so the consumer asked StartOffset again."
}

// positionTable is where the deliveries of an effect store the position: the
// other table that one of them wrote, or tried to.
func (e *evidence) positionTable(effects ...*act) string {
	for _, effect := range effects {
		for _, a := range e.of(effect.delivery) {
			if a.table != effect.table && (a.verb == "INSERT" || a.verb == "UPDATE") {
				return a.table
			}
		}
	}
	return ""
}

// positionAhead: the position was stored for good, the reading was not, and
// StartOffset answered the place behind it.
func positionAhead(e *evidence) *story {
	if e.entry != "offsets" {
		return nil
	}
	for _, d := range e.deliveries {
		kept := e.keptIn(d)
		done := firstOf(kept, func(a *act) bool { return a.mentions(e.failure.object) })
		if !e.about(d) || len(kept) == 0 || done != nil {
			continue
		}
		for _, b := range e.beginnings() {
			if b.step < kept[0].kept || b.partition != d.place() || b.offset <= d.Offset {
				continue
			}
			end := "Handle returned an error before the reading was added."
			if strings.HasPrefix(d.Ended, "crashed") {
				end = e.death(d) + ": the reading was not added."
			}
			return &story{
				name: "position ahead", acts: []*act{kept[0]}, steps: []int{b.step}, key: keyOf(kept[0]),
				short: fmt.Sprintf("%s had moved the position and the reading was not added, so StartOffset returned %d", kept[0].label, b.offset),
				text: sentences(fmt.Sprintf("%s had moved the position for good.", capital(kept[0].label)), end,
					fmt.Sprintf("StartOffset returned %d, so the reading at offset %d never came again.", b.offset, d.Offset)),
			}
		}
	}
	return nil
}

// positionTooFar: StartOffset answered a place behind records that nobody had
// read: its partition was another one, or its position not that of the next record.
func positionTooFar(e *evidence) *story {
	if e.entry != "offsets" {
		return nil
	}
	for _, b := range e.beginnings() {
		next := int64(0)
		for _, d := range e.deliveries {
			if d.place() == b.partition && d.step < b.step {
				next = max(next, d.Offset+1)
			}
		}
		if b.offset <= next || b.partition == "" {
			continue
		}
		s := &story{name: "position too far", steps: []int{b.step}, key: b.partition}
		if next == 0 {
			s.short = fmt.Sprintf("StartOffset returned %d for %s, of which nothing had been read", b.offset, b.partition)
			s.text = sentences(s.short+".", "That is the position of another partition: offsets count in each partition from 0.",
				fmt.Sprintf("So the readings before offset %d of %s were never read.", b.offset, b.partition))
			return s
		}
		s.short = fmt.Sprintf("StartOffset returned %d for %s, of which the readings up to offset %d had been read", b.offset, b.partition, next-1)
		s.text = sentences(s.short+".", fmt.Sprintf("The next one is at offset %d, and it was never read.", next))
		return s
	}
	return nil
}

// lateInstance: an instance whose partition had moved added a reading that the
// other one had added, and nothing compared its offset with the position.
func lateInstance(e *evidence) *story {
	if e.entry != "offsets" || !e.together() {
		return nil
	}
	first, second := e.repeated()
	if first == nil || steadyLane(first.lane) == steadyLane(second.lane) {
		return nil
	}
	if e.emptyCheck(second) != nil {
		return nil
	}
	s := &story{name: "late instance", acts: []*act{first, second}, key: keyOf(second)}
	met := lastOf(e.of(second.delivery), func(a *act) bool { return a.answer == "0 rows" && a.in.step == second.in.step })
	guard := fmt.Sprintf("No statement of %s compares the offset of its reading with the stored position, so %s added it once more.", second.lane, second.label)
	if met != nil {
		s.acts = append(s.acts, met)
		guard = fmt.Sprintf("%s changed no row, because the position had moved; the handler did not look at that, and %s added the reading once more.",
			capital(met.label), second.label)
	}
	s.short = fmt.Sprintf("%s and %s both added the reading, because nothing compares its offset with the stored position", first.lane, second.lane)
	if met != nil {
		s.short = fmt.Sprintf("%s and %s both added the reading, because nobody looked at what %s answered", first.lane, second.lane, met.label)
	}
	s.text = sentences("The partition moved to B while A was handling the record; A did not know, and both went on.",
		fmt.Sprintf("%s added the reading at offset %d with %s.", first.lane, first.delivery.Offset, first.label), guard)
	return s
}
