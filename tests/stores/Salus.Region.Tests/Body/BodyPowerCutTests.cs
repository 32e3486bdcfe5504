using Salus.Store.Files;

namespace Salus.Region.Tests.Body;

/// <summary>A power cut at any moment of writing and deleting leaves every file that the log of the cluster keeps, and
/// the replay makes the others again (S17, S19).</summary>
public sealed class BodyPowerCutTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Region_is_whole_after_a_cut_at_any_event(int seed)
    {
        var random = new Random(seed);
        var history = new BodyHistory(seed);
        var member = new BodyMember(history);
        history.Members.Add(member);
        Assert.True(await member.OpenAsync());
        var moments = new List<Moment>();
        member.Files.Event = () => moments.Add(new Moment(member.Files.Files, [.. history.Kept]));
        await PlayAsync(history, member, random);
        member.Files.Event = null;
        await history.CheckAsync(member);
        Assert.Contains(moments, moment => moment.Kept.Length > 3);
        foreach (var moment in moments.Where(_ => random.Next(4) == 0).Append(moments[^1]))
            await CheckAsync(history, moment);
    }

    private static async Task PlayAsync(BodyHistory history, BodyMember member, Random random)
    {
        for (var i = 0; i < 60; i++)
        {
            var first = random.Next(BodyHistory.Blocks);
            var zeros = random.Next(4) == 0
                ? new[] { new ZeroRange(first, random.Next(1, 1 + BodyHistory.Blocks - first)) }
                : [];
            int[] blocks = [.. Enumerable.Range(0, 5).Select(_ => random.Next(BodyHistory.Blocks)).Distinct()];
            await history.PutAsync(blocks, zeros);
            if (random.Next(3) == 0) history.Cut();
            else if (random.Next(5) == 0 && history.Newest > 2)
                history.Compact([.. member.Body.ProposeInputs().DefaultIfEmpty(history.Newest)]);
            history.Commit();
            if (random.Next(2) == 0) await member.WorkAsync();
            await history.PublishAsync();
            if (random.Next(10) == 0) history.Snapshot();
            if (random.Next(5) > 0 || history.Kept.Count == 0) continue;
            history.Trim();
            var released = member.Body.ReleaseAsync([.. history.Kept]);
            await member.WorkAsync();
            await released;
        }
    }

    // The disk of that moment, the checkpoints that were kept then, and the whole log.
    private static async Task CheckAsync(BodyHistory history, Moment moment)
    {
        history.Keep(moment.Kept);
        var member = new BodyMember(history) { Files = new MemoryFiles { Files = moment.Files } };
        Assert.True(await member.OpenAsync());
        Assert.Empty(member.Body.Missing);
        foreach (var checkpoint in moment.Kept)
            await member.CheckAsync(history.At(checkpoint.Number), checkpoint.Number);
        await member.WorkAsync();
        await member.CheckAsync(history.Committed);
        Assert.Empty(member.Damaged);
        Assert.All(member.Written.Values, written => Assert.True(written.IsCompletedSuccessfully));
    }

    private sealed record Moment(
        ImmutableDictionary<RegionFile, byte[]> Files, ImmutableArray<CheckpointName> Kept);
}
