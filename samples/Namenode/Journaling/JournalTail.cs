using System.Collections.Immutable;
using Corfu;
using NamenodeSample.Tree;
using Tango;
using Tango.Ledgers;

namespace NamenodeSample.Journaling;

/// <summary>Applies the journal to a tree: follows it while another namenode writes it, and ends it once this one is
/// elected.</summary>
internal sealed class JournalTail(Journal journal, SharedTree tree)
{
    // The segment that is read, the entry that comes next, and whether the segment is closed and read to its end.
    private Segment? _segment;
    private long _entry;
    private bool _isRead;

    /// <summary>Follows until it is cancelled. An image is loaded only where the edits below it are gone.</summary>
    public async Task FollowAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            ImmutableList<Segment> segments = await journal.Segments.WaitForAsync(
                static (list, token) => list.SnapshotAsync(token), list => NextOf(list) is not null,
                cancellationToken);
            try
            {
                Segment next = NextOf(segments)!;
                if (next.IsImage)
                {
                    await LoadAsync(next, cancellationToken);
                    continue;
                }

                LedgerReader reader = await journal.Ledgers.OpenAsync(
                    Enter(next), cancellationToken: cancellationToken);
                await foreach (LedgerEntry entry in reader.FollowAsync(_entry, cancellationToken)) Apply(entry);
                _isRead = true;
            }
            catch (Exception e) when (e is LedgerException { Error: LedgerError.LedgerNotFound } or LogTrimmedException)
            {
                // An image took the segment's place meanwhile: the list has it.
            }
        }
    }

    /// <summary>Ends the journal. Its writer before, if it still lives, is acknowledged nothing any more.</summary>
    public async Task RecoverAsync(CancellationToken cancellationToken)
    {
        // Read after the election: the namenodes elected before cannot change it any more.
        ImmutableList<Segment> segments = await journal.Segments.SnapshotAsync(cancellationToken);
        while (NextOf(segments) is { } next)
        {
            if (next.IsImage)
            {
                await LoadAsync(next, cancellationToken);
                continue;
            }

            LedgerReader reader = await journal.Ledgers.RecoverAsync(Enter(next), cancellationToken: cancellationToken);
            if (_entry <= reader.LastConfirmed)
            {
                await foreach (LedgerEntry entry in reader.ReadAsync(_entry, reader.LastConfirmed, cancellationToken))
                    Apply(entry);
            }

            _isRead = true;
        }
    }

    /// <summary>The segment to read next; null: all that the list has is read.</summary>
    private Segment? NextOf(ImmutableList<Segment> segments)
    {
        long next = tree.Use(static tree => tree.LastId) + 1;
        if (segments.Find(static segment => segment.IsImage) is { } image && image.First > next) return image;
        Segment? edits = segments.FindLast(segment => !segment.IsImage && segment.First <= next);
        return _isRead && edits == _segment ? null : edits;
    }

    private LedgerId Enter(Segment segment)
    {
        if (segment != _segment) (_segment, _entry, _isRead) = (segment, 0, false);
        return new LedgerId(segment.Ledger);
    }

    private async Task LoadAsync(Segment image, CancellationToken cancellationToken) =>
        tree.Replace(await journal.ReadImageAsync(image, cancellationToken));

    private void Apply(LedgerEntry entry)
    {
        Edit edit = Edit.Decode(entry.Data);
        tree.Use(tree => tree.Replay(edit));
        _entry = entry.Id + 1;
    }
}
