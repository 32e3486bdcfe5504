using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Corfu.Load.Tests;

/// <summary>Counters of nodes, and operations over time.</summary>
public sealed class CraqMeasuringTests
{
    [Fact]
    public void Counters_of_a_node_are_read_by_another_process()
    {
        var folder = Directory.CreateTempSubdirectory("corfu-counters-").FullName;
        using var meter = new Meter("Craq");
        using var other = new Meter("Other");
        var dirty = meter.CreateCounter<long>("craq.node.read.dirty");
        var queries = meter.CreateCounter<long>("craq.node.confirmation");
        var foreign = other.CreateCounter<long>("craq.node.read.dirty");
        try
        {
            using (new NodeCounters(folder))
            {
                dirty.Add(2);
                queries.Add(3);
                foreign.Add(5);
                Assert.Equal(new NodeCounts(0, 2, 0, 3), NodeCounters.Read(folder));
            }

            using (new NodeCounters(folder)) dirty.Add(1);
            Assert.Equal(new NodeCounts(0, 3, 0, 3), NodeCounters.Read(folder));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void Longest_pause_is_the_longest_run_of_empty_intervals()
    {
        Assert.Equal(30, CraqTimeline.LongestPause([1, 0, 0, 2, 0, 0, 0, 1, 0]).TotalMilliseconds);
        Assert.Equal(0, CraqTimeline.LongestPause([1, 1]).TotalMilliseconds);
        Assert.Equal(0, CraqTimeline.LongestPause([]).TotalMilliseconds);
    }

    [Fact]
    public async Task Timeline_counts_successes_and_failures()
    {
        var done = new TaskCompletionSource();
        var calls = 0;
        var began = Stopwatch.GetTimestamp();
        await using var timeline = new CraqTimeline(began, TimeSpan.FromMinutes(10), 1, async _ =>
        {
            switch (++calls)
            {
                case 1: return true;
                case 2: return false;
                case 3: throw new CorfuException("no answer");
                default:
                    done.TrySetResult();
                    await Task.Delay(1);
                    return true;
            }
        });

        await done.Task;
        await timeline.StopAsync();

        Assert.Equal(2, timeline.Failed);
        Assert.Equal(calls - 2, timeline.Sum(TimeSpan.Zero, TimeSpan.FromMinutes(10)));
        Assert.True(timeline.HasSince(TimeSpan.Zero));
        Assert.False(timeline.HasSince(TimeSpan.FromMinutes(9)));
    }
}
