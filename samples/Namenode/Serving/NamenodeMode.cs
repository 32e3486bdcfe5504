using System.CommandLine;
using System.Globalization;
using System.Text;
using NamenodeSample.Journaling;
using NamenodeSample.Tree;
using Tango;
using Tango.Collections;
using Tango.Ledgers;

namespace NamenodeSample.Serving;

/// <summary>A namenode process: stands by, is elected, serves, and ends when another has taken its place.</summary>
/// <remarks>
/// <list type="bullet">
/// <item><c>do CLIENT NUMBER VERB PATH TO VALUE</c>: see <see cref="Answers"/>.</item>
/// <item><c>print LAST</c>: the tree, once it has the edit, in base 64.</item>
/// </list>
/// </remarks>
internal sealed class NamenodeMode
{
    public const string Name = "namenode";

    /// <summary>First word of the reason of a namenode that ended since another was elected.</summary>
    public const string Fenced = "fenced";

    /// <summary>Reason of a namenode that ended by itself, before another was elected.</summary>
    public const string LeaseLost = "the lease is lost, and no other namenode has taken over yet";

    // A standby is behind by some milliseconds; on a loaded machine, by the time until its process runs again.
    private static readonly TimeSpan s_late = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(5);

    private readonly SharedTree _tree = new();
    private volatile Active? _active;

    public static Command CreateCommand()
    {
        var url = new Argument<string>("url");
        var name = new Argument<string>("name");
        var lease = new Argument<int>("lease");
        var command = new Command(Name, "Started by the program itself.") { url, name, lease };
        command.Hidden = true;
        command.SetAction((parse, stop) => new NamenodeMode().RunAsync(parse.GetRequiredValue(url),
            parse.GetRequiredValue(name), TimeSpan.FromMilliseconds(parse.GetValue(lease)), stop));
        return command;
    }

    private async Task<int> RunAsync(
        string connection, string name, TimeSpan lease, CancellationToken cancellationToken)
    {
        await using Journal journal = await Journal.OpenAsync(connection, cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task calls = CallServer.RunAsync(AnswerAsync, stop.Token);
        Task service = ServeAsync(journal, name, lease, stop.Token);
        Task first = await Task.WhenAny(calls, service);
        await stop.CancelAsync();
        try
        {
            await first;
            return SampleCommand.Success;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            await CallServer.SayWhyAsync(
                e is TangoLeaseLostException or LedgerException { Error: LedgerError.LedgerFenced }
                    ? $"{Fenced} {e.Message}"
                    : e.Message);
            return SampleCommand.Wrong;
        }
        finally
        {
            await Task.WhenAll(calls, service).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>Follows the journal until this namenode is elected, ends it, and serves. Never returns.</summary>
    private async Task ServeAsync(
        Journal journal, string name, TimeSpan lease, CancellationToken cancellationToken)
    {
        var tail = new JournalTail(journal, _tree);
        await using HeldLock held = await CampaignAsync(journal, tail, name, lease, cancellationToken);
        await tail.RecoverAsync(cancellationToken);
        await using Active active =
            await Active.BeginAsync(journal, _tree, held.FencingToken, cancellationToken);
        _active = active;
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var _ = held.Lost.Register(lost.SetResult);
        await Task.WhenAny(active.Failed, lost.Task).WaitAsync(cancellationToken);
        await active.AskLedgerAsync(cancellationToken);
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

    private async Task<string?> AnswerAsync(string[] call, CancellationToken cancellationToken)
    {
        try
        {
            if (call[0] == "print")
                return await PrintAsync(long.Parse(call[1], CultureInfo.InvariantCulture), cancellationToken);
            if (_active is not { } active) return Answers.Standby;
            return await active.DoAsync(call[1], long.Parse(call[2], CultureInfo.InvariantCulture),
                Operation.Parse(call.AsSpan(3)), cancellationToken);
        }
        catch (OperationCanceledException)
        {
            return null;
        }
    }

    /// <summary>A tree that is late is printed as it is, and shows what it lacks.</summary>
    private async Task<string> PrintAsync(long last, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        while (_tree.Use(static tree => tree.LastId) < last
            && TimeProvider.System.GetElapsedTime(began) < s_late)
            await Task.Delay(s_poll, cancellationToken);
        return Convert.ToBase64String(Encoding.UTF8.GetBytes(_tree.Use(static tree => tree.Print())));
    }
}
