namespace Salus.Reads;

/// <summary>Loads leaves of the tree from members. Callers that want the same page share one question. Any
/// thread.</summary>
/// <param name="closed">Ends all questions.</param>
internal sealed class PageLoader(MemberAsker asker, LoopContext loops, VolumeId volume, CancellationToken closed)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: questions for one page, by what is asked.
    private readonly Dictionary<PageKey, TaskCompletionSource<ImmutableArray<TreePage>>> _loads = [];

    /// <summary>In the order of the pages; the caller owns what it gets. Empty: they have changed since.</summary>
    public async Task<ImmutableArray<TreePage>> TryLoadAsync(int region, ImmutableArray<(int Page, Hash128 Hash)> pages,
        BatchPoint point, Func<bool> hasChanged, CancellationToken cancellationToken)
    {
        if (pages is not [var only]) return await AskAsync(region, pages, point, hasChanged);
        var key = new PageKey(region, only.Page, only.Hash);
        TaskCompletionSource<ImmutableArray<TreePage>>? load;
        bool isFirst;
        lock (_gate)
        {
            isFirst = !_loads.TryGetValue(key, out load);
            load ??= new TaskCompletionSource<ImmutableArray<TreePage>>(
                TaskCreationOptions.RunContinuationsAsynchronously);
            if (isFirst) _loads.Add(key, load);
        }

        if (isFirst) loops.Start(() => LoadAsync(key, pages, point, hasChanged, load));
        var shared = await load.Task.WaitOrCancelAsync(cancellationToken);
        // A tree changes the page that it takes.
        return shared.IsEmpty ? shared : [new TreePage(shared[0].LeafHashes)];
    }

    private async Task LoadAsync(PageKey key, ImmutableArray<(int Page, Hash128 Hash)> pages, BatchPoint point,
        Func<bool> hasChanged, TaskCompletionSource<ImmutableArray<TreePage>> load)
    {
        try
        {
            var leaves = await AskAsync(key.Region, pages, point, hasChanged);
            Forget(key);
            load.TrySetResult(leaves);
        }
        catch (Exception e)
        {
            Forget(key);
            load.TrySetException(e);
            // Callers that gave up ask for no outcome.
            _ = load.Task.Exception;
        }
    }

    private void Forget(PageKey key)
    {
        lock (_gate) _loads.Remove(key);
    }

    private async Task<ImmutableArray<TreePage>> AskAsync(int region, ImmutableArray<(int Page, Hash128 Hash)> pages,
        BatchPoint point, Func<bool> hasChanged)
    {
        var question = new LeavesQuestion(new RegionKey(volume, region), pages, point, hasChanged);
        return (await asker.AskAsync(question, closed)).Response is null ? [] : question.Leaves;
    }

    private readonly record struct PageKey(int Region, int Page, Hash128 Hash);
}
