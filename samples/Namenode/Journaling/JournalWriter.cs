using System.Collections.Immutable;
using System.Globalization;
using NamenodeSample.Tree;
using Tango.Ledgers;

namespace NamenodeSample.Journaling;

/// <summary>Writes the journal, for the active. One call at a time; appends that it returns go on beside.</summary>
internal sealed class JournalWriter : IAsyncDisposable
{
    private const int ChunkBytes = 256 << 10;

    private readonly Journal _journal;
    private readonly long _token;
    private LedgerWriter _edits;

    private JournalWriter(Journal journal, long token, LedgerWriter edits) =>
        (_journal, _token, _edits) = (journal, token, edits);

    /// <summary>Ends with the newest append: it and all before it are acknowledged, or this writer has ended.</summary>
    public Task Newest { get; private set; } = Task.CompletedTask;

    /// <summary>Begins a segment, behind a journal that this namenode has recovered.</summary>
    /// <param name="first">Id of the next edit.</param>
    public static async Task<JournalWriter> BeginAsync(
        Journal journal, long token, long first, CancellationToken cancellationToken)
    {
        LedgerWriter edits = await journal.Ledgers.CreateAsync(Spec("edits", first), cancellationToken);
        var (_, segments) = await journal.ChangeAsync(
            token, list => list.Add(new Segment(false, edits.Id.Value, first)), cancellationToken);
        await DeleteStrayAsync(journal, segments, edits.Id, cancellationToken);
        return new JournalWriter(journal, token, edits);
    }

    /// <summary>Ids follow the order of the calls.</summary>
    public Task AppendAsync(Edit edit)
    {
        Newest = _edits.AppendAsync(edit.Encode()).AsTask();
        return Newest;
    }

    /// <summary>Ends the segment, and begins the next one. Where this fails nothing may be appended.</summary>
    public async Task RollAsync(long first, CancellationToken cancellationToken)
    {
        await Newest;
        LedgerWriter ended = _edits;
        LedgerWriter next = await _journal.Ledgers.CreateAsync(Spec("edits", first), cancellationToken);
        _edits = next;
        // Before the list has the next one: of its segments only the last is open.
        await ended.CloseAsync(cancellationToken);
        await ended.DisposeAsync();
        await _journal.ChangeAsync(
            _token, list => list.Add(new Segment(false, next.Id.Value, first)), cancellationToken);
    }

    /// <summary>Writes an image, which takes the place of all segments below it. Runs beside the other calls but
    /// <see cref="RollAsync"/>.</summary>
    /// <param name="first">First edit that the image lacks: a segment begins with it.</param>
    public async Task WriteImageAsync(ReadOnlyMemory<byte> image, long first, CancellationToken cancellationToken)
    {
        await using LedgerWriter writer = await _journal.Ledgers.CreateAsync(Spec("image", first), cancellationToken);
        for (var at = 0; at < image.Length; at += ChunkBytes)
            await writer.AppendAsync(image.Slice(at, Math.Min(ChunkBytes, image.Length - at)), cancellationToken);
        await writer.CloseAsync(cancellationToken);
        var (before, after) = await _journal.ChangeAsync(
            _token,
            list =>
            [
                new Segment(true, writer.Id.Value, first),
                .. list.Where(segment => !segment.IsImage && segment.First >= first),
            ],
            cancellationToken);
        foreach (Segment gone in before.Except(after))
            await _journal.Ledgers.DeleteAsync(new LedgerId(gone.Ledger), cancellationToken);
    }

    public ValueTask DisposeAsync() => _edits.DisposeAsync();

    /// <summary>Deletes ledgers that an active had made when it ended, before the list had them.</summary>
    /// <remarks>Below this active's own alone: an active that is elected later may have made a higher one, and may put
    /// it into the list while this process is stopped here.</remarks>
    private static async Task DeleteStrayAsync(
        Journal journal, ImmutableList<Segment> segments, LedgerId own, CancellationToken cancellationToken)
    {
        var known = segments.Select(static segment => segment.Ledger).ToHashSet();
        var stray = new List<LedgerId>();
        await foreach (LedgerMetadata ledger in journal.Ledgers.ListAsync(cancellationToken: cancellationToken))
        {
            if (ledger.Id.Value < own.Value && !known.Contains(ledger.Id.Value)) stray.Add(ledger.Id);
        }

        foreach (LedgerId ledger in stray) await journal.Ledgers.DeleteAsync(ledger, cancellationToken);
    }

    // For people who list the ledgers.
    private static LedgerSpec Spec(string kind, long first) => new()
    {
        Metadata = new Dictionary<string, string>
        {
            ["kind"] = kind,
            ["first"] = first.ToString(CultureInfo.InvariantCulture),
        },
    };
}
