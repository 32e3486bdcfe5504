using CsCheck;
using Salus.Store.Files;

namespace Salus.Region.Tests.Body;

/// <summary>Bodies of a region against a plain model of its blocks.</summary>
public sealed class RegionBodyTests
{
    private static readonly Gen<Step> s_steps = Gen.Frequency(
        (8, Gen.Select(Gen.Int[0, BodyHistory.Blocks - 1].HashSet[0, 8],
            Gen.Select(Gen.Int[0, BodyHistory.Blocks - 1], Gen.Int[1, 400]).Array[0, 1],
            (blocks, zeros) => new Step(StepKind.Put, 0, blocks, zeros))),
        (4, Gen.Int[1, 6].Select(count => new Step(StepKind.Commit, count, [], []))),
        (1, Gen.Const(new Step(StepKind.Void, 0, [], []))),
        (3, Gen.Const(new Step(StepKind.Cut, 0, [], []))),
        (2, Gen.Int[0, 5].Select(input => new Step(StepKind.Compact, input, [], []))),
        (4, Gen.Int[0, 1].Select(member => new Step(StepKind.Work, member, [], []))),
        (2, Gen.Const(new Step(StepKind.Publish, 0, [], []))),
        (1, Gen.Const(new Step(StepKind.Snapshot, 0, [], []))),
        (2, Gen.Int[0, 1].Select(member => new Step(StepKind.Release, member, [], []))),
        (1, Gen.Int[0, 3].Select(member => new Step(StepKind.Reopen, member, [], []))),
        (1, Gen.Int[0, 1].Select(member => new Step(StepKind.Check, member, [], []))));

    private enum StepKind
    {
        Put,
        Commit,
        Void,
        Cut,
        Compact,
        Work,
        Publish,
        Snapshot,
        Release,
        Reopen,
        Check,
    }

    /// <summary>Files are written and released at each member's own time, and yet equal byte for byte (S17, S18,
    /// S19).</summary>
    [Fact]
    public void Bodies_hold_all_committed_blocks_after_any_history() =>
        s_steps.Array[1, 60].Sample(steps => RunAsync(steps).GetAwaiter().GetResult(), iter: 150);

    /// <summary>S23: data that a discard empties stays for snapshots.</summary>
    [Fact]
    public async Task Discarded_blocks_stay_in_a_snapshot_and_nowhere_else()
    {
        var history = await StartAsync(2);
        await history.PutAsync(Enumerable.Range(0, BodyHistory.Blocks));
        await CutAsync(history);
        history.Snapshot();
        await history.PutAsync([], new ZeroRange(0, 600));
        await history.PutAsync([3]);
        await CutAsync(history);
        history.Compact(1, 2);
        history.Commit();
        await PublishAsync(history);
        history.Trim();
        foreach (var member in history.Members)
        {
            await ReleaseAsync(history, member);
            await history.CheckAsync(member);
            Assert.True(await member.OpenAsync());
            await history.CheckAsync(member);
            Assert.Equal([1L, 3L], member.Files.List().Select(file => file.Number).Order());
        }

        Assert.Equal([1L, 3L], history.Kept.Select(checkpoint => checkpoint.Number));
    }

    [Fact]
    public async Task Compaction_frees_inputs_that_hold_only_discards()
    {
        var history = await StartAsync(1);
        await history.PutAsync(Enumerable.Range(0, 300));
        await CutAsync(history);
        // The second file gets an index page, and no block.
        await history.PutAsync([], new ZeroRange(0, 1));
        await CutAsync(history);
        history.Compact(1, 2);
        history.Commit();
        await PublishAsync(history);
        history.Trim();
        await ReleaseAsync(history, history.Members[0]);
        Assert.Equal([3L], history.Members[0].Files.List().Select(file => file.Number));
        await history.CheckAsync(history.Members[0]);
    }

    [Fact]
    public async Task Replay_from_an_older_checkpoint_takes_the_files_that_newer_ones_need()
    {
        var history = await StartAsync(1);
        var member = history.Members[0];
        for (var i = 0; i < 4; i++)
        {
            await history.PutAsync(Enumerable.Range(i * 100, 150));
            await CutAsync(history);
        }

        var files = member.Files.Files;
        Assert.True(await member.OpenAsync(history.Kept[0]));
        await member.WorkAsync();
        await history.CheckAsync(member);
        Assert.All(files, file => Assert.Same(file.Value, member.Files.Files[file.Key]));
        Assert.All(member.Written.Values, written => Assert.True(written.IsCompletedSuccessfully));
    }

    [Fact]
    public async Task Batch_with_another_root_or_beyond_the_end_is_refused_without_a_trace()
    {
        var history = await StartAsync(1);
        await history.PutAsync([1, 2]);
        var body = history.Members[0].Body;
        var root = body.Root;
        var batch = history.Log[0].Batch!;
        Assert.False(body.Accept(batch with { Writes = [new BlockWrite(5, batch.Writes[0].Hash)] }));
        Assert.False(body.Accept(batch with { Writes = [new BlockWrite(BodyHistory.Blocks, batch.Writes[0].Hash)] }));
        Assert.False(body.Accept(batch with { Zeros = [new ZeroRange(BodyHistory.Blocks - 1, 2)] }));
        Assert.False(body.Accept(batch with { BlockSize = 2 * BodyHistory.BlockSize }));
        Assert.Equal(root, body.Root);
        history.Commit();
        await history.CheckAsync(history.Members[0]);
    }

    [Fact]
    public async Task Compaction_is_proposed_for_dead_files_and_for_many()
    {
        var history = await StartAsync(1);
        var body = history.Members[0].Body;
        await history.PutAsync(Enumerable.Range(0, 100));
        await CutAsync(history);
        await history.PutAsync(Enumerable.Range(0, 49));
        await CutAsync(history);
        Assert.Empty(body.ProposeInputs());
        await history.PutAsync([60, 61]);
        await CutAsync(history);
        Assert.Equal([1L], body.ProposeInputs());
        for (var i = 0; i < 12; i++)
        {
            await history.PutAsync([200 + i]);
            await CutAsync(history);
        }

        Assert.True(await history.Members[0].OpenAsync());
        Assert.Equal([1L], history.Members[0].Body.ProposeInputs());
        history.Compact(1);
        history.Commit();
        await PublishAsync(history);
        Assert.Equal(15, history.Members[0].Body.ProposeInputs().Length);
    }

    private static async Task RunAsync(Step[] steps)
    {
        var history = await StartAsync(2);
        foreach (var step in steps) await RunAsync(history, step);
        history.Commit();
        foreach (var member in history.Members) await member.WorkAsync();
        await history.PublishAsync();
        Assert.Equal(history.Newest, history.Kept.LastOrDefault().Number);
        foreach (var member in history.Members)
        {
            await history.CheckAsync(member);
            Assert.True(await member.OpenAsync());
            Assert.Empty(member.Body.Missing);
            await history.CheckAsync(member);
            Assert.Empty(member.Damaged);
        }
    }

    private static async Task RunAsync(BodyHistory history, Step step)
    {
        var member = history.Members[step.Number % 2];
        switch (step.Kind)
        {
            case StepKind.Put:
                await history.PutAsync(step.Blocks, [.. step.Zeros.Select(zero =>
                    new ZeroRange(zero.First, Math.Min(zero.Count, BodyHistory.Blocks - zero.First)))]);
                break;
            case StepKind.Commit:
                history.Commit(step.Number);
                break;
            case StepKind.Void:
                history.Void();
                break;
            case StepKind.Cut:
                history.Cut();
                break;
            case StepKind.Compact:
                // Also files that are not there any more, or were never alive.
                if (history.Newest > step.Number + 1) history.Compact(step.Number + 1, history.Newest);
                break;
            case StepKind.Work:
                await member.WorkAsync();
                break;
            case StepKind.Publish:
                await history.PublishAsync();
                break;
            case StepKind.Snapshot:
                history.Snapshot();
                break;
            case StepKind.Release:
                if (step.Blocks.Count % 2 == 0) history.Trim();
                await ReleaseAsync(history, member);
                break;
            case StepKind.Reopen:
                Assert.True(await member.OpenAsync(
                    step.Number < 2 || history.Kept.Count == 0 ? null : history.Kept[0]));
                break;
            default:
                await history.CheckAsync(member);
                break;
        }
    }

    private static async Task<BodyHistory> StartAsync(int members)
    {
        var history = new BodyHistory(members);
        for (var i = 0; i < members; i++) history.Members.Add(new BodyMember(history));
        foreach (var member in history.Members) Assert.True(await member.OpenAsync());
        return history;
    }

    private static async Task CutAsync(BodyHistory history)
    {
        history.Cut();
        history.Commit();
        await PublishAsync(history);
    }

    private static async Task PublishAsync(BodyHistory history)
    {
        foreach (var member in history.Members) await member.WorkAsync();
        await history.PublishAsync();
        Assert.Equal(history.Newest, history.Kept[^1].Number);
    }

    private static async Task ReleaseAsync(BodyHistory history, BodyMember member)
    {
        var released = member.Body.ReleaseAsync([.. history.Kept]);
        await member.WorkAsync();
        await released;
    }

    private sealed record Step(StepKind Kind, int Number, HashSet<int> Blocks, (int First, int Count)[] Zeros);
}
