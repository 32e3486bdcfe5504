using NamespaceSample.History;
using NamespaceSample.Replay;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Tests;

public sealed class ReplayTests
{
    private const int Changes = 150;

    [Fact]
    public async Task A_replay_ends_as_the_history_does()
    {
        IReadOnlyList<HistoryChange> changes = Histories.Read(Histories.Random(1, Changes));
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        var applier = new ChangeApplier(service);
        foreach (HistoryChange change in changes) await applier.ApplyAsync("history", change, default);
        Assert.Equal(Changes, await applier.ReadProgressAsync(default));
        Assert.Empty(await DifferencesAsync(logs, changes));
    }

    [Fact]
    public async Task A_killed_replayer_resumes_exactly()
    {
        IReadOnlyList<HistoryChange> changes = Histories.Read(Histories.Random(2, Changes));
        var random = new Random(2);
        await using var logs = new Logs();
        await logs.HostAsync();
        for (int done = 0; done < Changes;)
        {
            NamespaceService service = await logs.OpenAsync();
            var applier = new ChangeApplier(service);
            done = await applier.ReadProgressAsync(default);
            for (int left = random.Next(20); left > 0 && done < Changes; left--)
                await applier.ApplyAsync("history", changes[done++], default);
            if (done == Changes) break;
            // The process dies within a change, which may or may not take effect.
            Task dying = applier.ApplyAsync("history", changes[done], default).AsTask();
            for (int i = random.Next(30); i > 0; i--) await Task.Yield();
            await service.Runtime.DisposeAsync();
            await Assert.ThrowsAnyAsync<Exception>(async () =>
            {
                await dying;
                throw new TangoException("It had ended before");
            });
        }

        Assert.Empty(await DifferencesAsync(logs, changes));
    }

    [Fact]
    public async Task A_change_is_not_applied_twice()
    {
        IReadOnlyList<HistoryChange> changes = Histories.Read("T 1 1\nA\tsrc/a\nT 2 2\nM\tsrc/a\nT 3 3\n");
        await using var logs = new Logs();
        await logs.HostAsync();
        var applier = new ChangeApplier(await logs.OpenAsync());
        foreach (HistoryChange change in changes)
        {
            await applier.ApplyAsync("history", change, default);
            await applier.ApplyAsync("history", change, default);
        }

        Assert.Empty(await DifferencesAsync(logs, changes));
    }

    [Fact]
    public async Task Two_replayers_at_once_apply_each_change_once()
    {
        IReadOnlyList<HistoryChange> changes = Histories.Read(Histories.Random(3, Changes));
        await using var logs = new Logs();
        await logs.HostAsync();
        await Task.WhenAll(Enumerable.Range(0, 2).Select(async _ =>
        {
            var applier = new ChangeApplier(await logs.OpenAsync());
            foreach (HistoryChange change in changes) await applier.ApplyAsync("history", change, default);
        }));
        Assert.Empty(await DifferencesAsync(logs, changes));
    }

    [Fact]
    public async Task Differing_state_is_found()
    {
        IReadOnlyList<HistoryChange> changes = Histories.Read(Histories.Random(4, 30));
        await using var logs = new Logs();
        await logs.HostAsync();
        NamespaceService service = await logs.OpenAsync();
        var applier = new ChangeApplier(service);
        foreach (HistoryChange change in changes) await applier.ApplyAsync("history", change, default);
        string path = (await service.ReadAllAsync()).Entries.First(pair => !pair.Value.IsDirectory).Key;
        await service.ChangeAsync(new Model.NamespaceChange.Write(path, 1, 1));
        Assert.Contains(path, Assert.Single(await DifferencesAsync(logs, changes)));
    }

    [Fact]
    public void Kills_are_spread_over_the_history()
    {
        var plan = new KillPlan(100, 5);
        List<(int, KillTarget, int)> kills = [];
        for (int applied = 1; applied <= 100; applied++)
        {
            while (plan.TryNext(applied, out var next)) kills.Add((applied, next.Target, next.Index));
        }

        Assert.Equal(
            [
                (16, KillTarget.Replayer, 0), (33, KillTarget.Host, 0), (50, KillTarget.Replayer, 1),
                (66, KillTarget.Host, 1), (83, KillTarget.Node, 0),
            ],
            kills);
    }

    [Fact]
    public void Last_line_names_kills_only_if_asked_for()
    {
        var report = new ReplayReport(
            2715, 1657, true, TimeSpan.FromSeconds(6.184), 3, null, TimeSpan.FromMilliseconds(1));
        Assert.Equal("changes=2715 paths=1657 match=yes seconds=6.18 aborted=3", report.ToString());
        Assert.Equal(
            "changes=2715 paths=1657 match=no seconds=6.18 aborted=3 kills=20",
            (report with { IsMatch = false, Kills = 20 }).ToString());
    }

    private static async Task<IReadOnlyList<string>> DifferencesAsync(
        Logs logs, IReadOnlyList<HistoryChange> changes) =>
        new ReplayCheck(await (await logs.OpenAsync()).ReadAllAsync())
            .Find(HistoryModel.Play("history", changes), null, changes.Count);
}
