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

    // One more than the chain has: a node that could take the place of a lost one.
    private const int Nodes = Length + 1;
    private const int Readers = 32;
    private const int Writers = 8;

    private static readonly string[] s_places = ["head", "middle", "tail"];
    private static readonly TimeSpan s_warmUp = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan s_step = TimeSpan.FromSeconds(1);

    // The chain stays without the node for so long.
    private static readonly TimeSpan s_away = TimeSpan.FromSeconds(5);

    // Writes that do not go on by then are a fault of the product.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_after = TimeSpan.FromSeconds(3);

    public static async Task<CraqSection> RunAsync(CraqRig rig, string folder, CancellationToken cancellationToken)
    {
        var section = new CraqSection(CraqPlan.Failover, "A node is killed, and started again (Figs. 10 to 12)");
        section.Note($"A chain of {Length} on {Nodes} new nodes in each round; {Readers} strong reads of one object "
            + $"and {Writers} writes in flight. A node gets SIGKILL, and its process is started again "
            + $"{s_away.TotalSeconds:0} s later. Time counts from the kill. \"Stall\": the longest time without one "
            + "answer from the kill on. A failed read is one that the client gave up after its retries.");
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

        var shown = rounds.Min(figures => figures.Reads.Length);
        section.Columns([
            "killed", "reads stall ms", "reads failed", "writes stall ms", "writes failed or unknown",
            .. Enumerable.Range(-FailoverFigures.StepsBefore, shown).Select(step => $"reads/s at {step} s")]);
        foreach (var figures in rounds) figures.AddTo(section, s_places[figures.Place], shown);
        section.Sum("reads_stall_ms", RoundResult.Middle(rounds.Select(figures => figures.ReadStall)));
        section.Sum("writes_stall_ms", RoundResult.Middle(rounds.Select(figures => figures.WriteStall)));
        section.Sum("reads_failed", rounds.Sum(figures => figures.ReadsFailed));
        foreach (var figures in rounds.Where(figures => !figures.HasHealed))
            section.Problem($"no write within {s_patience.TotalSeconds:0} s of the kill of the "
                + s_places[figures.Place]);
        return section;
    }

    private static async Task<FailoverFigures> RunAsync(
        string folder, int place, int size, CancellationToken cancellationToken)
    {
        await using var nodes = await CraqNodes.StartAsync(folder, Nodes, [], cancellationToken);
        await nodes.CreateChainAsync(Chain, Length, ChainProtocol.Craq, cancellationToken);
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
        while (!writes.HasSince(started) && Stopwatch.GetElapsedTime(began) - killed < s_patience)
            await Task.Delay(CraqTimeline.IntervalMilliseconds, cancellationToken);
        var hasHealed = writes.HasSince(started);
        await Task.Delay(s_after, cancellationToken);
        var ended = Stopwatch.GetElapsedTime(began);
        await reads.StopAsync();
        await writes.StopAsync();
        return new FailoverFigures(place, hasHealed, reads, writes, killed, started, ended, s_step);
    }
}

/// <summary>Figures of one kill.</summary>
internal sealed class FailoverFigures
{
    /// <summary>Steps that are shown before the kill.</summary>
    public const int StepsBefore = 2;

    private readonly long _writesFailed;
    private readonly TimeSpan _away;

    public FailoverFigures(int place, bool hasHealed, CraqTimeline reads, CraqTimeline writes, TimeSpan killed,
        TimeSpan started, TimeSpan ended, TimeSpan step)
    {
        (Place, HasHealed, _away) = (place, hasHealed, started - killed);
        (ReadsFailed, _writesFailed) = (reads.Failed, writes.Failed);
        ReadStall = reads.LongestPause(killed, ended).TotalMilliseconds;
        WriteStall = writes.LongestPause(killed, ended).TotalMilliseconds;
        Reads = Steps(reads, killed - (StepsBefore * step), ended, step);
    }

    /// <summary>The killed node's in the chain.</summary>
    public int Place { get; }

    /// <summary>Writes went on.</summary>
    public bool HasHealed { get; }

    public double ReadStall { get; }

    public double WriteStall { get; }

    public long ReadsFailed { get; }

    /// <summary>Reads a second in each step, from before the kill on.</summary>
    public double[] Reads { get; }

    public void AddTo(CraqSection section, string place, int shown) => section.Row([
        place, Cell.Count(ReadStall), Cell.Count(ReadsFailed), Cell.Count(WriteStall), Cell.Count(_writesFailed),
        .. Reads.Take(shown).Select(Cell.Count)]);

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"reads stalled {ReadStall:0} ms, {ReadsFailed} failed; writes stalled {WriteStall:0} ms, {_writesFailed} "
        + $"failed or unknown; served again after {_away.TotalMilliseconds:0} ms");

    private static double[] Steps(CraqTimeline reads, TimeSpan from, TimeSpan to, TimeSpan step)
    {
        List<double> steps = [];
        for (; from + step <= to; from += step) steps.Add(reads.Sum(from, from + step) / step.TotalSeconds);
        return [.. steps];
    }
}
