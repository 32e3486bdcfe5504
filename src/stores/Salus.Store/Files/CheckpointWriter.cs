namespace Salus.Store.Files;

/// <summary>A block that a checkpoint file gets.</summary>
/// <param name="Hash">Empty: the block becomes empty, and has no data.</param>
public readonly record struct BlockContent(int Block, Hash128 Hash, ReadOnlyMemory<byte> Data);

/// <summary>The end of a region's log that a new file brings in.</summary>
/// <param name="File">Above all files of the state before.</param>
public sealed record CheckpointTask(RegionFile File, long Index, Hash128 Chain, BatchName Batch);

/// <summary>Writes checkpoint files. Members that have the same blocks and the same state before write the same bytes:
/// no clock, no name of a machine and no order but that of the blocks is in them (S17).</summary>
/// <remarks>Steps: (1) the blocks, in order, each checked against its hash; (2) the index pages that have changed; (3)
/// the page table and the files it refers to; (4) the hashes and the end; (5) sync and rename.</remarks>
public sealed class CheckpointWriter(IRegionFiles files)
{
    /// <summary>Writes and publishes a file.</summary>
    /// <param name="before">The state that the changes are made to.</param>
    /// <param name="changes">Ascending, no block twice. A compaction passes blocks as they are.</param>
    /// <param name="moved">Index pages that get a place in this file although none of their blocks does: their file is
    /// about to go.</param>
    /// <exception cref="MalformedDataException">A block's data is not what its hash says, or an index page of an
    /// earlier file is damaged: nothing was published.</exception>
    public async ValueTask<CheckpointFile> WriteAsync(
        CheckpointTask task, CheckpointState before, IAsyncEnumerable<BlockContent> changes,
        IEnumerable<int>? moved = null)
    {
        if (task.File.Number <= before.File.Number || task.File.Region != before.File.Region)
            throw new ArgumentException("A checkpoint's number is not above the one before, or its region another.");
        using var file = files.Create(task.File);
        var output = new PieceWriter(file);
        output.Write(CheckpointFormat.Begin());
        var draft = new CheckpointDraft(files, task, before);
        await foreach (var change in changes)
        {
            await draft.AddAsync(change);
            output.Write(change.Data.Span);
        }

        foreach (var number in moved ?? []) await draft.HoldAsync(number);
        var page = new byte[IndexPage.Size];
        foreach (var (number, changed) in draft.Pages)
        {
            var isKept = draft.Place(number, changed, output.Length);
            if (!isKept) continue;
            changed.Write(page);
            output.Write(page);
        }

        var state = draft.ToState();
        var bytes = state.Encode();
        var stateOffset = output.Length;
        output.Write(bytes);
        var (pieces, piecesHash) = output.WriteHashes();
        var end = new CheckpointEnd(
            stateOffset, bytes.Length, pieces, (int)draft.Blocks, Hash128.Of(bytes), piecesHash);
        var endBytes = CheckpointFormat.EncodeEnd(end);
        file.Write(endBytes);
        await file.PublishAsync();
        var digest = Hash128.Read(endBytes.AsSpan(^Hash128.Size));
        return new CheckpointFile(files, state, end, digest);
    }
}
