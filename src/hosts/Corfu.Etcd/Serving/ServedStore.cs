using Corfu.Etcd.Hosting;
using Corfu.Etcd.Translation;

namespace Corfu.Etcd.Serving;

/// <summary>The store of a service as one front end serves it.</summary>
/// <param name="term">The epoch of the log, now.</param>
internal sealed class ServedStore(
    CorfuStore store, MemberTable members, EtcdIdentity identity, Func<ulong> term, EtcdLimits limits)
{
    private const int MostAttempts = 4;

    public CorfuStore Store => store;

    public MemberTable Members => members;

    public EtcdIdentity Identity => identity;

    public EtcdLimits Limits => limits;

    public ulong Term => term();

    /// <summary>The header of an answer.</summary>
    public ResponseHeader Header(long revision) => new()
    {
        ClusterId = identity.Cluster,
        MemberId = identity.Member,
        Revision = revision,
        RaftTerm = term(),
    };

    /// <summary>The header of an answer that names no state: the newest that is known here.</summary>
    public ResponseHeader Header() => Header(store.Revision);

    /// <summary>All that was acknowledged anywhere before has at most this revision.</summary>
    public async ValueTask<long> ReadRevisionAsync(CancellationToken cancellationToken) =>
        (await store.GetManyAsync([], cancellationToken: cancellationToken).ConfigureAwait(false)).Revision;

    /// <summary>Decides a transaction. A record in doubt is sent again only when it is known that it is not in the log,
    /// and never will be.</summary>
    public async ValueTask<StoreResult> TransactAsync(
        StoreTransaction transaction, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                return await store.TransactAsync(transaction, cancellationToken).ConfigureAwait(false);
            }
            catch (StoreInDoubtException doubt)
                when (attempt < MostAttempts && !cancellationToken.IsCancellationRequested)
            {
                // Done: the answer of the record is lost, and the caller is told that it may have taken effect.
                if (await OutcomeOfAsync(doubt, cancellationToken).ConfigureAwait(false) != StoreOutcome.NotWritten)
                    throw;
            }
            catch (ArgumentException)
            {
                // The request was checked before, all but this.
                throw EtcdErrors.DuplicateKey;
            }
        }
    }

    /// <summary>Grants a lease.</summary>
    /// <param name="id">0: the front end chooses one, among the large numbers as etcd does. Clients choose small
    /// ones.</param>
    /// <returns>The id.</returns>
    public async ValueTask<long> GrantLeaseAsync(TimeSpan timeToLive, long id, CancellationToken cancellationToken)
    {
        while (true)
        {
            var asked = id != 0 ? id : Random.Shared.NextInt64(1L << 62, long.MaxValue);
            try
            {
                return await store.GrantLeaseAsync(timeToLive, asked, cancellationToken).ConfigureAwait(false);
            }
            catch (StoreLeaseExistsException) when (id == 0)
            {
                // Another number.
            }
        }
    }

    private async ValueTask<StoreOutcome> OutcomeOfAsync(
        StoreInDoubtException doubt, CancellationToken cancellationToken)
    {
        try
        {
            return (await store.ResolveAsync(doubt, cancellationToken).ConfigureAwait(false)).Outcome;
        }
        catch (Exception)
        {
            // The caller hears of the doubt.
            return StoreOutcome.Unknown;
        }
    }
}

/// <summary>Numbers in the headers of answers.</summary>
/// <param name="Cluster">The same at all front ends of a service.</param>
/// <param name="Member">This front end's.</param>
internal sealed record EtcdIdentity(ulong Cluster, ulong Member);
