using System.Collections.Immutable;
using Corfu.Protocol;
using CsCheck;

namespace Corfu.Sequencer.Tests;

/// <summary>Any history of requests against what was granted, remembered without bounds.</summary>
public sealed class DeciderModelTests
{
    private static readonly Gen<CellScope> s_write = Gen.Select(Gen.ULong[1, 3], Gen.Int[0, 3], Gen.ULong[0, 4],
        static (stream, kind, cell) => Scope(stream, kind, cell));

    private static readonly Gen<CellScope> s_read = Gen.Select(Gen.ULong[1, 4], Gen.Int[1, 3], Gen.ULong[0, 4],
        static (stream, kind, cell) => Scope(stream, kind, cell));

    // A tail so many positions back, of this epoch or an earlier one.
    private static readonly Gen<(int Back, int Epochs)?> s_since = Gen.Frequency(
        (2, Gen.Bool.Select(static _ => ((int, int)?)null)),
        (7, Gen.Int[0, 8].Select(static back => ((int, int)?)(back, 0))),
        (1, Gen.Select(Gen.Int[-3, 8], Gen.Int[0, 2]).Select(static x => ((int, int)?)x)));

    private static readonly Gen<(CellScope[] Writes, (int Back, int Epochs)? Since, CellScope[] Reads)> s_record =
        Gen.Select(s_write.Array[1, 3], s_since, s_read.Array[0, 3]);

    private static readonly Gen<Step> s_step = Gen.Frequency(
        (2, Gen.Select(Gen.Int[1, 3], Gen.Int[1, 7], static (count, streams) => new Step(count, streams, [], 0))),
        (8, Gen.Select(Gen.Int[1, 7], s_record.Array[0, 3].Array[1, 3],
            static (streams, entries) => new Step(entries.Length, streams, entries, 0))),
        (1, Gen.Int[1, 12].Select(static above => new Step(0, 0, [], above))));

    // Thousands of cores are made.
    private static readonly SequencerOptions s_small = new() { RememberedGrants = 8, RememberedWords = 64 };

    private sealed record Step(int Count, int Streams,
        (CellScope[] Writes, (int Back, int Epochs)? Since, CellScope[] Reads)[][] Entries, int NewStart)
    {
        public override string ToString() => NewStart > 0
            ? $"epoch +{NewStart}"
            : $"{Count} of {Streams:b}: " + string.Join(" | ", Entries.Select(entry => string.Join("; ", entry.Select(
                r => $"{string.Join(',', r.Writes)} since {r.Since} {string.Join(',', r.Reads)}"))));
    }

    /// <summary>A record passes only if no grant from its tail on may write what it reads (R24 to R27).</summary>
    [Fact]
    public void Rulings_agree_with_all_that_was_granted() =>
        Gen.Select(Gen.Int[1, 7], s_step.Array[1, 40]).Sample(static history => Run(history.Item1, history.Item2),
            iter: 3000);

    private static void Run(int cells, Step[] steps)
    {
        var core = Setup.Started(options: s_small with { MaxCells = cells });
        var exact = new ExactRulings(core.Epoch, 0);
        foreach (var step in steps)
        {
            if (step.NewStart > 0)
            {
                var start = Math.Max(0, exact.Next - 6) + step.NewStart;
                Assert.Equal(Status.Ok, core.Bootstrap(core.Epoch.Value + 1, start));
                exact = new ExactRulings(core.Epoch, start);
                for (ulong stream = 1; stream <= 3; stream++) Assert.Equal(Status.Ok, core.Load(stream));
                continue;
            }

            ImmutableArray<StreamId> streams = [.. Enumerable.Range(0, 3)
                .Where(i => (step.Streams >> i & 1) > 0).Select(i => new StreamId(1 + (ulong)i))];
            if (step.Entries.Length == 0) Grant(core, exact, step.Count, streams);
            else Decide(core, exact, streams, step, cells);
            Assert.Equal(exact.Next, core.Tail.Offset);
            Assert.InRange(core.CellCount, 0, cells);
        }
    }

    private static void Grant(SequencerCore core, ExactRulings exact, int count, ImmutableArray<StreamId> streams)
    {
        var response = (TokenResponse)core.Handle(new TokenRequest(core.Epoch, count, streams));
        Assert.Equal((exact.Next, 0), (response.First.Offset, response.Rulings.Length));
        for (var i = 0; i < count; i++) exact.Grant(streams);
    }

    private static void Decide(
        SequencerCore core, ExactRulings exact, ImmutableArray<StreamId> streams, Step step, int cells)
    {
        ImmutableArray<Declaration> declarations =
            [.. step.Entries.Select(entry => new Declaration([.. entry.Select(r => Record(core, streams, r))]))];
        var first = core.Tail.Offset;
        var response = (TokenResponse)core.Handle(
            new TokenRequest(core.Epoch, declarations.Length, streams) { Declarations = declarations });
        Assert.Equal((Status.Ok, first, declarations.Length),
            (response.Status, response.First.Offset, response.Rulings.Length));
        for (var i = 0; i < declarations.Length; i++)
        {
            var (declaration, ruling) = (declarations[i], response.Rulings[i]);
            foreach (var refusal in ruling.Refused) CheckReason(core, exact, streams, declaration, refusal);

            // A sequencer that has forgotten refuses more: the reference then takes only what was asked with its leave.
            var left = declaration.Records.Where((_, record) => ruling.Refused.All(r => r.Record != record));
            var passed = new Declaration([.. left]);
            Assert.Equal(ruling.IsGranted, declaration.Records.IsEmpty || !passed.Records.IsEmpty);
            if (!ruling.IsGranted) continue;

            // Streams that only refused records name are not written.
            var named = declaration.Records.SelectMany(r => r.Writes).Select(w => w.Stream).ToHashSet();
            var silent = new DeclaredRecord([.. named.Select(s => new CellScope(s, ScopeKind.None))], null, []);
            var taken = named.Count == 0 ? passed : passed with { Records = [silent, .. passed.Records] };
            Assert.Equal(Enumerable.Range(0, taken.Records.Length), exact.Decide(streams, taken));
        }

        // R26: nothing is forgotten while there is room.
        if (exact.Cells <= cells) Assert.Equal(exact.Start, core.CellMark);
    }

    private static void CheckReason(SequencerCore core, ExactRulings exact, ImmutableArray<StreamId> streams,
        Declaration declaration, Refusal refusal)
    {
        var since = declaration.Records[refusal.Record].Since!.Value;
        if (refusal.Reason == RefusalReason.TooOld)
        {
            Assert.True(since.Epoch != core.Epoch || since.Offset < refusal.Position.Offset
                || since.Offset > exact.Next);
            return;
        }

        // The write that was met is one of this epoch at or above the tail, perhaps of the same entry.
        Assert.InRange(refusal.Position.Offset, since.Offset, exact.Next);
        var isUnnamed = streams.Contains(refusal.Read.Stream)
            && !declaration.Records.Any(r => r.Writes.Any(w => w.Stream == refusal.Read.Stream));
        Assert.True(refusal.Position.Offset == exact.Next || isUnnamed
            || exact.WriteFrom(refusal.Position.Offset, refusal.Read) == refusal.Position.Offset);
    }

    private static DeclaredRecord Record(SequencerCore core, ImmutableArray<StreamId> streams,
        (CellScope[] Writes, (int Back, int Epochs)? Since, CellScope[] Reads) record)
    {
        ImmutableArray<CellScope> writes =
        [
            .. record.Writes.Select(w => w with { Stream = streams[(int)(w.Stream.Value % (ulong)streams.Length)] }),
        ];
        if (record.Since is not var (back, epochs)) return new DeclaredRecord(writes, null, []);
        var epoch = new Epoch(Math.Max(1, core.Epoch.Value - epochs));
        return new DeclaredRecord(
            writes, new LogPosition(Math.Max(0, core.Tail.Offset - back), epoch), [.. record.Reads]);
    }

    private static CellScope Scope(ulong stream, int kind, ulong cell) =>
        new(new StreamId(stream), (ScopeKind)kind, (ScopeKind)kind == ScopeKind.Keyed ? cell : 0);
}
