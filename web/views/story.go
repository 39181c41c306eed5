package views

import "fmt"

type storyLane struct {
	word  string
	class string
	x     int
}

// storyLanes are the lanes of story, from left to right.
var storyLanes = []storyLane{
	{"story.kafka", "st-kafka", 58},
	{"story.handler", "st-handler", 204},
	{"story.database", "st-database", 350},
}

// arrowTip is the path of an arrow's tip that ends beside a lane.
func arrowTip(x, y int) string { return fmt.Sprintf("M%d %d l-7 -5 m7 5 l-7 5", x-7, y) }
