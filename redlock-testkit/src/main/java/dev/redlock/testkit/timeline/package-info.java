/**
 * One picture of a run: the holds, the states of the nodes and the faults over time. {@link
 * dev.redlock.testkit.timeline.Timeline} is the data, and {@link
 * dev.redlock.testkit.timeline.TimelineHtml} renders it as a self-contained page. The package does
 * not depend on the rest of the kit and uses no clock: times are numbers, counted from the start of
 * the run.
 */
@NullMarked
package dev.redlock.testkit.timeline;

import org.jspecify.annotations.NullMarked;
