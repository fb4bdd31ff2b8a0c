/**
 * One picture of a run: the holds, the states of the nodes and the faults over time. {@link
 * dev.redlock.harness.timeline.Timeline} is the data, and {@link
 * dev.redlock.harness.timeline.TimelineHtml} renders it as a self-contained page. The package uses
 * no clock: times are numbers, counted from the start of the run.
 */
@NullMarked
package dev.redlock.harness.timeline;

import org.jspecify.annotations.NullMarked;
