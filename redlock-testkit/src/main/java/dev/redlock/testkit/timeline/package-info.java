/**
 * One picture of a run: who held what when, what the nodes were doing, what was done to them.
 * {@link dev.redlock.testkit.timeline.Timeline} is the data, {@link
 * dev.redlock.testkit.timeline.TimelineHtml} turns it into a self-contained page. Depends on
 * nothing else of the kit, and knows no clock: times are numbers counted from the start of the run.
 */
@NullMarked
package dev.redlock.testkit.timeline;

import org.jspecify.annotations.NullMarked;
