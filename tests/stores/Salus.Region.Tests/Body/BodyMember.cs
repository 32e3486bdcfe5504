using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Tests.Body;

/// <summary>A member's body, and the files that it was asked for.</summary>
internal sealed class BodyMember
{
    private readonly BodyHistory _history;
    private RegionBodies? _bodies;
    private ManualWorkers _workers = new();

    public BodyMember(BodyHistory history) => _history = history;

    public MemoryFiles Files { get; init; } = new();

    public IRegionBody Body { get; private set; } = null!;

    /// <summary>By number; each completes when the file is durable here.</summary>
    public Dictionary<long, Task<CheckpointName>> Written { get; } = [];

    public List<RegionFile> Damaged { get; } = [];

    public List<RegionFile> Missing { get; } = [];

    /// <summary>The files are searched beside the body.</summary>
    public bool Needs(RegionFile file) => _bodies!.Needs(file);

    /// <summary>Opens the body and replays what the log has above the checkpoint.</summary>
    /// <param name="from">Null: the newest kept one.</param>
    public async Task<bool> OpenAsync(CheckpointName? from = null)
    {
        if (Body is not null) await Body.DisposeAsync();
        if (_bodies is not null) await _bodies.DisposeAsync();
        Written.Clear();
        _workers = new ManualWorkers();
        // Room for two pages: they come and go.
        _bodies = new RegionBodies(
            Files, _workers, Damaged.Add, static error => Assert.Fail(error.ToString()), indexCache: 14_000,
            missing: Missing.Add);
        var opened = await _bodies.OpenAsync(BodyHistory.Key, BodyHistory.Geometry, [.. _history.Kept],
            from ?? _history.Kept.LastOrDefault(), default);
        if (opened is null) return false;
        Body = opened.Body;
        foreach (var entry in _history.Log.Where(entry => entry.Index > opened.Index && entry.Fate != EntryFate.Void))
        {
            await AcceptAsync(entry);
            if (entry.Fate == EntryFate.Applied) Apply(entry);
        }

        return true;
    }

    public async Task AcceptAsync(LogEntry entry)
    {
        if (entry.Batch is null) return;
        await Body.LoadAsync(entry.Batch, default);
        Assert.True(Body.Accept(entry.Batch));
    }

    public void Apply(LogEntry entry)
    {
        if (entry.Batch is { } batch) Body.Commit(batch);
        if (entry.Cut is { } cut)
            Written.Add(cut.File, Body.CutAsync(cut, entry.Index, BodyHistory.ChainOf(entry.Index), entry.Last));
        if (entry.Compact is { } compact)
        {
            Written.Add(compact.Output,
                Body.CompactAsync(compact, entry.Index, BodyHistory.ChainOf(entry.Index), entry.Last));
        }
    }

    public Task WorkAsync(TimeSpan after = default) => _workers.RunAsync(after);

    public async Task CheckAsync(byte[]?[] expected, long snapshot = 0)
    {
        const int step = 97;
        for (var first = 0; first < expected.Length; first += step)
        {
            var count = Math.Min(step, expected.Length - first);
            var answer = await Body.ReadAsync(first, count, snapshot, default);
            Assert.Equal(Status.Ok, answer.Status);
            for (var i = 0; i < count; i++)
            {
                Assert.True(answer.Blocks[i].Span.SequenceEqual(expected[first + i] ?? []),
                    $"block {first + i} of {snapshot} differs");
            }
        }

        var tree = BodyHistory.TreeOf(expected);
        var hashes = await Body.ReadTreeAsync([0, 2], snapshot, default);
        Assert.Equal(Status.Ok, hashes.Status);
        Assert.Equal(tree.PageHashes.ToArray(), hashes.PageHashes);
        Assert.Equal(tree.PageHashes[2], new TreePage(hashes.Pages[1].AsSpan()).Hash);
        if (snapshot == 0) Assert.Equal(tree.Root, Body.CommittedRoot);
    }
}
