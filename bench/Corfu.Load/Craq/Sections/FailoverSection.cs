using System.Diagnostics;
using System.Globalization;
using Craq;

namespace Corfu.Load;

/// <summary>Reads and writes over time, while a node of the chain is killed and started again (CRAQ, Figs. 10 to
/// 12).</summary>
internal static class FailoverSection
{
    private const string Chain = "orders";
    private const int Length = 3;

    // A node more than the chain has could take the place of a lost one.
    private const int Nodes = Length + 1;
    private const int Readers = 32;
    private const int Writers = 8;

    // Steps of the table.
    private const int MostShown = 14;

    private static readonly string[] s_places = ["head", "middle", "tail"];
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan s_step = TimeSpan.FromSeconds(1);

    // The chain stays without the node for so long.
    private static readonly TimeSpan s_away = TimeSpan.FromSeconds(5);

    // Writes that do not go on by then, and a chain that is not whole again, are a fault of the product.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_after = TimeSpan.FromSeconds(3);

    public static async Task<CraqSection> RunAsync(CraqRig rig, string folder, CancellationToken cancellationToken)
    {
        var section = new CraqSection(CraqPlan.Failover, "A node is killed, and started again (Figs. 10 to 12)");
        section.Note($"A chain of {Length} on {Nodes} new nodes in each round; {Readers} strong reads of one object "
            + $"and {Writers} writes in flight. A node gets SIGKILL, and its process is started again "
            + $"{s_away.TotalSeconds:0} s later. Time counts from the kill. \"Stall\": the longest time without one "
            + "answer from the kill on. A failed read is one that the client gave up after its retries. \"Whole\": "
            + "from the kill until the chain had all its members again.");
        List<FailoverFigures> rounds = [];
        for (var round = 0; round < rig.Plan.Rounds; round++)
        {
            var place = round % s_places.Length;
            var figures = await RunAsync(
                Path.Combine(folder, $"failover-{round}"), place, rig.Plan.Size, cancellationToken);
            rounds.Add(figures);
            Console.WriteLine(
                $"{CraqPlan.Failover} round {round + 1}/{rig.Plan.Rounds}: {s_places[place]} killed: {figures}");
        }

        var shown = Math.Min(MostShown, rounds.Min(figures => figures.Reads.Length));
        section.Columns([
            "killed", "reads stall ms", "reads failed", "writes stall ms", "writes failed or unknown",
            "whole again s",
            .. Enumerable.Range(-FailoverFigures.StepsBefore, shown).Select(step => $"reads/s at {step} s")]);
        foreach (var figures in rounds) figures.AddTo(section, s_places[figures.Place], shown);
        section.Sum("reads_stall_ms", RoundResult.Middle(rounds.Select(figures => figures.ReadStall)));
        section.Sum("writes_stall_ms", RoundResult.Middle(rounds.Select(figures => figures.WriteStall)));
        section.Sum("whole_s", RoundResult.Middle(rounds.Select(figures => figures.Whole.TotalSeconds)), "0.0");
        section.Sum("reads_failed", rounds.Sum(figures => figures.ReadsFailed));
        foreach (var figures in rounds.Where(figures => !figures.HasHealed))
            section.Problem($"{s_patience.TotalSeconds:0} s after the kill of the {s_places[figures.Place]} the chain "
                + "was not whole, or took no writes");
        return section;
    }

    private static async Task<FailoverFigures> RunAsync(
        string folder, int place, int size, CancellationToken cancellationToken)
    {
        await using var nodes = await CraqNodes.StartAsync(folder, Nodes, [], cancellationToken);
        await nodes.CreateChainAsync(Chain, Length, ChainOptions.Default, cancellationToken);
        await using var client = await CraqClient.ConnectAsync(
            nodes.ConnectionString, cancellationToken: cancellationToken);
        var chain = client.Chain(Chain);
        var value = CraqWorkload.Value(size);
        await chain.PutAsync("read", value, cancellationToken: cancellationToken);
        var began = Stopwatch.GetTimestamp();
        var longest = s_warmUp + s_patience + s_away + s_after;
        await using var reads = new CraqTimeline(began, longest, Readers,
            async _ => (await chain.GetAsync("read")).Length == size);
        await using var writes = new CraqTimeline(began, longest, Writers,
            async caller => (await chain.PutAsync($"written-{caller}", value)).IsWritten);
        await Task.Delay(s_warmUp, cancellationToken);
        (await nodes.MembersAsync(Chain, cancellationToken)).Kill(place);
        var killed = Stopwatch.GetElapsedTime(began);
        await Task.Delay(s_away, cancellationToken);
        await nodes.StartAgainAsync(cancellationToken);
        var started = Stopwatch.GetElapsedTime(began);
        var isWhole = false;
        while (!(isWhole && writes.HasSince(started)) && Stopwatch.GetElapsedTime(began) - killed < s_patience)
        {
            await Task.Delay(s_poll, cancellationToken);
            isWhole = (await nodes.MembersAsync(Chain, cancellationToken)) is { IsOpen: true, Length: Length };
        }

        var whole = Stopwatch.GetElapsedTime(began);
        var hasHealed = isWhole && writes.HasSince(started);
        await Task.Delay(s_after, cancellationToken);
        var ended = Stopwatch.GetElapsedTime(began);
        await reads.StopAsync();
        await writes.StopAsync();
        return new FailoverFigures(
            place, hasHealed, reads, writes, new FailoverTimes(killed, started, whole, ended), s_step);
    }
}

/// <summary>Times since the callers began.</summary>
/// <param name="Started">The node's new process serves.</param>
/// <param name="Whole">The chain has all its members, or the wait for that has ended.</param>
internal readonly record struct FailoverTimes(TimeSpan Killed, TimeSpan Started, TimeSpan Whole, TimeSpan Ended);

/// <summary>Figures of one kill.</summary>
internal sealed class FailoverFigures
{
    /// <summary>Steps that are shown before the kill.</summary>
    public const int StepsBefore = 2;

    private readonly long _writesFailed;
    private readonly TimeSpan _started;

    public FailoverFigures(int place, bool hasHealed, CraqTimeline reads, CraqTimeline writes, FailoverTimes times,
        TimeSpan step)
    {
        (Place, HasHealed) = (place, hasHealed);
        (_started, Whole) = (times.Started - times.Killed, times.Whole - times.Killed);
        (ReadsFailed, _writesFailed) = (reads.Failed, writes.Failed);
        ReadStall = reads.LongestPause(times.Killed, times.Ended).TotalMilliseconds;
        WriteStall = writes.LongestPause(times.Killed, times.Ended).TotalMilliseconds;
        Reads = Steps(reads, times.Killed - (StepsBefore * step), times.Ended, step);
    }

    /// <summary>The killed node's in the chain.</summary>
    public int Place { get; }

    /// <summary>Writes went on, and the chain has all its members.</summary>
    public bool HasHealed { get; }

    /// <summary>From the kill until then.</summary>
    public TimeSpan Whole { get; }

    public double ReadStall { get; }

    public double WriteStall { get; }

    public long ReadsFailed { get; }

    /// <summary>Reads a second in each step, from before the kill on.</summary>
    public double[] Reads { get; }

    public void AddTo(CraqSection section, string place, int shown) => section.Row([
        place, Cell.Count(ReadStall), Cell.Count(ReadsFailed), Cell.Count(WriteStall), Cell.Count(_writesFailed),
        Whole.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture), .. Reads.Take(shown).Select(Cell.Count)]);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"reads stalled {ReadStall:0} ms, {ReadsFailed} failed; writes stalled {WriteStall:0} ms, {_writesFailed} "
        + $"failed or unknown; the process served again after {_started.TotalSeconds:0.0} s, the chain was whole after "
        + $"{Whole.TotalSeconds:0.0} s");

    private static double[] Steps(CraqTimeline reads, TimeSpan from, TimeSpan to, TimeSpan step)
    {
        List<double> steps = [];
        for (; from + step <= to; from += step) steps.Add(reads.Sum(from, from + step) / step.TotalSeconds);
        return [.. steps];
    }
}
