using System.Collections.Immutable;
using Corfu.Client;
using NamenodeSample.Tree;
using Tango;
using Tango.Collections;
using Tango.Ledgers;

namespace NamenodeSample.Journaling;

/// <summary>The state that namenodes share: ledgers, the list of segments that says which ledgers are the journal, and
/// the election of the active.</summary>
/// <remarks>
/// At any moment all segments of the list but the last are closed, at most one is an image, and edits follow on one
/// another without a gap. The active alone writes it, in transactions that commit only while it is elected. An edit is
/// acknowledged only in a ledger that the list has.
/// </remarks>
internal sealed class Journal : IAsyncDisposable
{
    private readonly CorfuClient _log;
    private readonly TangoRuntime _runtime;

    private Journal(CorfuClient log, TangoRuntime runtime, LedgerStore ledgers, TangoList<Segment> segments,
        TangoElection election)
    {
        (_log, _runtime) = (log, runtime);
        (Ledgers, Segments, Election) = (ledgers, segments, election);
    }

    public LedgerStore Ledgers { get; }

    public TangoList<Segment> Segments { get; }

    public TangoElection Election { get; }

    public static async Task<Journal> OpenAsync(string connection, CancellationToken cancellationToken)
    {
        CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        var runtime = new TangoRuntime(log);
        try
        {
            return new Journal(log, runtime,
                await LedgerStore.OpenAsync(log, runtime, "namenode.ledgers", cancellationToken: cancellationToken),
                await runtime.OpenAsync<TangoList<Segment>>("namenode.segments", OpenMode.Create, cancellationToken),
                new TangoElection(
                    await runtime.OpenAsync<TangoLock>("namenode.active", OpenMode.Create, cancellationToken)));
        }
        catch
        {
            await runtime.DisposeAsync();
            await log.DisposeAsync();
            throw;
        }
    }

    /// <summary>Changes the list of segments, if the active with the token is elected until then.</summary>
    /// <returns>The list before, and after.</returns>
    /// <exception cref="TangoLeaseLostException">Another namenode is elected.</exception>
    public async Task<(ImmutableList<Segment> Before, ImmutableList<Segment> After)> ChangeAsync(
        long token, Func<ImmutableList<Segment>, ImmutableList<Segment>> change, CancellationToken cancellationToken)
    {
        TxResult<(ImmutableList<Segment>, ImmutableList<Segment>)> result = await _runtime.RunTransactionAsync(
            async _ =>
            {
                await Election.Lock.RequireHeldAsync(token, cancellationToken);
                ImmutableList<Segment> before = await Segments.SnapshotAsync(cancellationToken);
                ImmutableList<Segment> after = change(before);
                await Segments.ClearAsync(cancellationToken);
                foreach (Segment segment in after) await Segments.AddAsync(segment, cancellationToken);
                return (before, after);
            },
            cancellationToken: cancellationToken);
        result.Outcome.ThrowIfNotCommitted();
        return result.Value;
    }

    /// <summary>The tree of an image.</summary>
    public async Task<NamespaceTree> ReadImageAsync(Segment image, CancellationToken cancellationToken)
    {
        LedgerReader reader = await Ledgers.OpenAsync(new LedgerId(image.Ledger), cancellationToken: cancellationToken);
        using var bytes = new MemoryStream();
        await foreach (LedgerEntry entry in reader.ReadAsync(0, reader.LastConfirmed, cancellationToken))
            bytes.Write(entry.Data.Span);
        NamespaceTree tree = NamespaceTree.FromImage(Image.Decode(bytes.ToArray()));
        return tree.LastId == image.First - 1
            ? tree
            : throw new JournalException($"The image below edit {image.First} has {tree.LastId} edits");
    }

    public async ValueTask DisposeAsync()
    {
        await Ledgers.DisposeAsync();
        await _runtime.DisposeAsync();
        await _log.DisposeAsync();
    }
}
