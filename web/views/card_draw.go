package views

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"sort"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"redeliver/grader/trace"
)

// The colours of the light scheme in app.css.
var (
	cardPage     = color.RGBA{0xfb, 0xfb, 0xfa, 0xff}
	cardPanel    = color.RGBA{0xff, 0xff, 0xff, 0xff}
	cardText     = color.RGBA{0x1c, 0x1e, 0x21, 0xff}
	cardMuted    = color.RGBA{0x57, 0x60, 0x6a, 0xff}
	cardEdge     = color.RGBA{0xb9, 0xbe, 0xc3, 0xff}
	cardAccent   = color.RGBA{0x0b, 0x5c, 0x8a, 0xff}
	cardBad      = color.RGBA{0xa3, 0x24, 0x1b, 0xff}
	cardBadSoft  = color.RGBA{0xfc, 0xeb, 0xe9, 0xff}
	cardWarn     = color.RGBA{0x7a, 0x4d, 0x00, 0xff}
	cardWarnSoft = color.RGBA{0xff, 0xf3, 0xdc, 0xff}
	cardLanes    = []color.RGBA{{0x0b, 0x5c, 0x8a, 0xff}, {0x7b, 0x2d, 0x8b, 0xff}, {0x1d, 0x63, 0x39, 0xff}}
)

// Places on a card in pixels.
const (
	cardMargin  = 56
	laneWidth   = 96
	rowHeight   = 46
	stepSize    = 23
	leadingText = 34
)

// fonts are parsed once. Go's own have Latin, Greek and Cyrillic letters and arrows,
// and may be part of a program.
var fonts = sync.OnceValues(func() ([2]*opentype.Font, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return [2]*opentype.Font{}, fmt.Errorf("parse font: %w", err)
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return [2]*opentype.Font{}, fmt.Errorf("parse font: %w", err)
	}
	return [2]*opentype.Font{regular, bold}, nil
})

// canvas is a picture with what draws on it.
type canvas struct {
	img                     *image.RGBA
	title, lead, said, step font.Face
}

func newCanvas() (*canvas, error) {
	parsed, err := fonts()
	if err != nil {
		return nil, err
	}
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, CardWidth, CardHeight))}
	for _, f := range []struct {
		face *font.Face
		font *opentype.Font
		size float64
	}{{&c.title, parsed[1], 46}, {&c.lead, parsed[1], 26}, {&c.said, parsed[0], 26}, {&c.step, parsed[0], stepSize}} {
		if *f.face, err = opentype.NewFace(f.font, &opentype.FaceOptions{Size: f.size, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return nil, fmt.Errorf("make font: %w", err)
		}
	}
	return c, nil
}

// PNG draws the card. It takes some 50 ms, so what calls it bounds how often.
func (card Card) PNG() ([]byte, error) {
	c, err := newCanvas()
	if err != nil {
		return nil, err
	}
	c.fill(c.img.Bounds(), cardPage)
	c.fill(image.Rect(0, 0, CardWidth, 10), cardAccent)
	c.write(c.lead, cardMargin, 66, "Redeliver", cardAccent)
	y := 124
	for _, line := range wrap(c.title, card.Title, CardWidth-2*cardMargin, 2) {
		c.write(c.title, cardMargin, y, line, cardText)
		y += 54
	}
	for _, line := range wrap(c.said, card.Text, CardWidth-2*cardMargin, 2) {
		c.write(c.said, cardMargin, y-12, line, cardMuted)
		y += leadingText
	}
	c.timeline(card, y+4)
	var out bytes.Buffer
	if err := png.Encode(&out, c.img); err != nil {
		return nil, fmt.Errorf("encode card: %w", err)
	}
	return out.Bytes(), nil
}

// timeline draws what timelinePicture draws as SVG: the lanes beside the text, as
// many rows as there is room for.
func (c *canvas) timeline(card Card, top int) {
	tl, left := card.Timeline, cardMargin+12
	room := (CardHeight - 28 - top - rowHeight) / rowHeight
	rows := essence(card.Rows, room)
	if len(rows) == 0 {
		return
	}
	bottom := top + rowHeight*(len(rows)+1)
	c.fill(image.Rect(cardMargin, top, CardWidth-cardMargin, bottom), cardPanel)
	lane := func(i int) int { return left + i*laneWidth + laneWidth/2 }
	for i, name := range tl.Lanes {
		if name == trace.Middle {
			name = "Kafka, DB"
		}
		x := lane(i) - font.MeasureString(c.step, name).Round()/2
		c.write(c.step, x, top+30, name, c.laneColour(tl, i))
	}
	for i, r := range rows {
		y := top + rowHeight*(i+1)
		switch {
		case r.Fault:
			c.fill(image.Rect(cardMargin, y, CardWidth-cardMargin, y+rowHeight), cardWarnSoft)
		case r.Step.Decisive:
			c.fill(image.Rect(cardMargin, y, CardWidth-cardMargin, y+rowHeight), cardBadSoft)
		}
		c.lines(tl, r, lane, y)
		c.sign(tl, r, lane, y+rowHeight/2)
		x := left + laneWidth*len(tl.Lanes) + 24
		c.write(c.step, x, y+31, shorten(c.step, r.Step.Text, CardWidth-cardMargin-16-x), cardText)
	}
}

// laneColour gives each instance the colour that it has on the page.
func (c *canvas) laneColour(tl Timeline, lane int) color.RGBA {
	if tl.Lanes[lane] == trace.Middle {
		return cardMuted
	}
	if lane > tl.middle() {
		lane--
	}
	return cardLanes[lane%len(cardLanes)]
}

// lines draws the part of each lane that lies in a row.
func (c *canvas) lines(tl Timeline, r TimelineRow, lane func(int) int, y int) {
	for i, l := range r.Lines {
		width, colour := 1, c.laneColour(tl, i)
		if tl.Lanes[i] == trace.Middle {
			width, colour = 2, cardEdge
		}
		half := func(from, to int) {
			c.fill(image.Rect(lane(i)-width, from, lane(i)+width+1, to), colour)
		}
		if l.Before {
			half(y, y+rowHeight/2)
		}
		if l.After {
			half(y+rowHeight/2, y+rowHeight)
		}
	}
}

// sign draws the arrow of a step and the shape that says what it is: the same paths
// as on the page.
func (c *canvas) sign(tl Timeline, r TimelineRow, lane func(int) int, y int) {
	x, middle := lane(r.Lane), lane(tl.middle())
	if r.Arrow != trace.NoArrow {
		c.fill(image.Rect(min(x, middle), y-1, max(x, middle), y+1), c.laneColour(tl, r.Lane))
		if r.Arrow == trace.FromMiddle {
			c.stroke(tip(tl.middle(), r.Lane, r.Arrow), x, y, c.laneColour(tl, r.Lane))
		} else {
			c.stroke(tip(r.Lane, tl.middle(), r.Arrow), middle, y, c.laneColour(tl, r.Lane))
		}
	}
	switch shape, class := sign(r); class {
	case "tl-crash":
		c.stroke(shape, x, y, cardBad)
	case "tl-flash":
		c.shape(shape, x, y, cardWarn)
	case "tl-diamond":
		c.shape(shape, x, y, cardBad)
	default:
		c.shape("M-3 -6 L3 -6 L6 -3 L6 3 L3 6 L-3 6 L-6 3 L-6 -3 Z", x, y, c.laneColour(tl, r.Lane))
	}
}

func (c *canvas) fill(r image.Rectangle, colour color.RGBA) {
	draw.Draw(c.img, r, image.NewUniform(colour), image.Point{}, draw.Src)
}

func (c *canvas) write(face font.Face, x, y int, text string, colour color.RGBA) {
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(colour), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(text)
}

// shapeSize is half of the square that holds every shape.
const shapeSize = 20

// shape fills a path around a point.
func (c *canvas) shape(path string, x, y int, colour color.RGBA) {
	r := vector.NewRasterizer(2*shapeSize, 2*shapeSize)
	for _, line := range points(path) {
		for i, p := range line {
			if i == 0 {
				r.MoveTo(p[0]+shapeSize, p[1]+shapeSize)
			} else {
				r.LineTo(p[0]+shapeSize, p[1]+shapeSize)
			}
		}
		r.ClosePath()
	}
	c.rasterise(r, x, y, colour)
}

// stroke draws the lines of a path, three pixels wide.
func (c *canvas) stroke(path string, x, y int, colour color.RGBA) {
	r := vector.NewRasterizer(2*shapeSize, 2*shapeSize)
	for _, line := range points(path) {
		for i := 1; i < len(line); i++ {
			segment(r, line[i-1], line[i], 1.5)
		}
	}
	c.rasterise(r, x, y, colour)
}

func (c *canvas) rasterise(r *vector.Rasterizer, x, y int, colour color.RGBA) {
	at := image.Rect(x-shapeSize, y-shapeSize, x+shapeSize, y+shapeSize)
	r.Draw(c.img, at, image.NewUniform(colour), image.Point{})
}

// point is a place in a shape, in pixels from its middle.
type point [2]float32

// segment adds a line as a thin rectangle.
func segment(r *vector.Rasterizer, a, b point, half float32) {
	dx, dy := b[0]-a[0], b[1]-a[1]
	length := max(abs(dx), abs(dy)) // every line of a shape is straight or diagonal
	nx, ny := -dy/length*half, dx/length*half
	r.MoveTo(a[0]+nx+shapeSize, a[1]+ny+shapeSize)
	r.LineTo(b[0]+nx+shapeSize, b[1]+ny+shapeSize)
	r.LineTo(b[0]-nx+shapeSize, b[1]-ny+shapeSize)
	r.LineTo(a[0]-nx+shapeSize, a[1]-ny+shapeSize)
	r.ClosePath()
}

func abs(f float32) float32 { return max(f, -f) }

// points reads the shapes of timeline.go: M, L and Z with numbers.
func points(path string) (lines [][]point) {
	fields := strings.Fields(strings.NewReplacer("M", " M ", "L", " L ", "Z", " ").Replace(path))
	for i := 0; i+2 < len(fields); i += 3 {
		var p point
		if _, err := fmt.Sscan(fields[i+1], &p[0]); err != nil {
			panic("views: shape " + path)
		}
		if _, err := fmt.Sscan(fields[i+2], &p[1]); err != nil {
			panic("views: shape " + path)
		}
		if fields[i] == "M" {
			lines = append(lines, nil)
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], p)
	}
	return lines
}

// maxCardText is more than a card has room for, in letters: texts of submissions can
// be long.
const maxCardText = 300

// wrap breaks a text into lines of a width in pixels; what has no room is cut.
func wrap(face font.Face, text string, width, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(firstRunes(text, maxCardText)) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && font.MeasureString(face, longer).Ceil() > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	lines = append(lines, line)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] += " …"
	}
	for i := range lines {
		lines[i] = shorten(face, lines[i], width)
	}
	return lines
}

// shorten cuts a text to a width in pixels.
func shorten(face font.Face, text string, width int) string {
	text = firstRunes(text, maxCardText)
	if font.MeasureString(face, text).Ceil() <= width {
		return text
	}
	runes := []rune(text)
	short := func(n int) string { return strings.TrimRight(string(runes[:n]), " …") + "…" }
	tooLong := sort.Search(len(runes), func(n int) bool { return font.MeasureString(face, short(n)).Ceil() > width })
	return short(max(tooLong-1, 0))
}

func firstRunes(text string, n int) string {
	runes := []rune(text[:min(len(text), 4*n)])
	return strings.ToValidUTF8(string(runes[:min(len(runes), n)]), "")
}
