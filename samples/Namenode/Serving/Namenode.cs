using NamenodeSample.Journaling;
using NamenodeSample.Tree;
using Tango.Collections;

namespace NamenodeSample.Serving;

/// <summary>A namenode: stands by, is elected, serves, and ends when another has taken its place.</summary>
internal sealed class Namenode
{
    /// <summary>Reason of a namenode that ended by itself, before another was elected.</summary>
    public const string LeaseLost = "the lease is lost, and no other namenode has taken over yet";

    private volatile Active? _active;

    public SharedTree Tree { get; } = new();

    /// <summary>Null: this namenode stands by.</summary>
    public Active? Active => _active;

    /// <summary>Follows the journal until this namenode is elected, ends it, and serves. Never returns.</summary>
    public async Task ServeAsync(
        Journal journal, string name, TimeSpan lease, CancellationToken cancellationToken)
    {
        var tail = new JournalTail(journal, Tree);
        await using HeldLock held = await CampaignAsync(journal, tail, name, lease, cancellationToken);
        await tail.RecoverAsync(cancellationToken);
        await using Active active =
            await Active.BeginAsync(journal, Tree, held.FencingToken, cancellationToken);
        _active = active;
        try
        {
            var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var _ = held.Lost.Register(lost.SetResult);
            await Task.WhenAny(active.Failed, lost.Task).WaitAsync(cancellationToken);
            await active.AskLedgerAsync(cancellationToken);
        }
        finally
        {
            _active = null;
        }

        throw new JournalException(LeaseLost);
    }

    /// <summary>Follows the journal until this namenode is elected.</summary>
    private static async Task<HeldLock> CampaignAsync(
        Journal journal, JournalTail tail, string name, TimeSpan lease, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task following = tail.FollowAsync(stop.Token);
        Task<HeldLock> campaign = journal.Election.CampaignAsync(name, lease, stop.Token).AsTask();
        bool canFollow = await Task.WhenAny(campaign, following) == campaign;
        await stop.CancelAsync();
        await following.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (canFollow) return await campaign;

        // A namenode that cannot follow is no backup: it leaves the line of those that wait to be elected.
        await ((Task)campaign).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (campaign.IsCompletedSuccessfully) await campaign.Result.DisposeAsync();
        await following;
        throw new JournalException("the journal cannot be followed");
    }
}
