using System.Globalization;
using BankSample.Machine;
using Corfu.Client;
using Corfu.StateMachines;

namespace BankSample.Processes;

/// <summary>A replica process. It answers calls, many at once, and ends when its input does.</summary>
/// <remarks>
/// <list type="bullet">
/// <item><c>open</c>: the id of a new session.</item>
/// <item><c>transfer SESSION NUMBER NAME FROM TO AMOUNT</c>: the outcome, and whether money was moved.</item>
/// <item><c>totals ACCOUNTS</c>: transfers that ran, those that ran twice, and the sum of all accounts.</item>
/// </list>
/// </remarks>
internal static class ReplicaMode
{
    public const string Name = "replica";

    // Small, so that replicas that start again have a snapshot.
    private static readonly ReplicaOptions s_options = new() { Machine = "bank", SnapshotCommands = 500 };

    public static async Task<int> RunAsync(string connection, CancellationToken cancellationToken)
    {
        await using CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        await using Replica<Accounts> replica = await Replica<Accounts>.OpenAsync(
            log, "bank", () => new Accounts(), s_options, cancellationToken);
        await CallServer.RunAsync((call, stop) => AnswerAsync(replica, call, stop), cancellationToken);
        return 0;
    }

    private static async Task<string?> AnswerAsync(
        Replica<Accounts> replica, string[] call, CancellationToken cancellationToken)
    {
        try
        {
            return call[0] switch
            {
                "open" => $"{(await replica.OpenSessionAsync(cancellationToken)).Id}",
                "transfer" => await TransferAsync(replica, call, cancellationToken),
                _ => await replica.QueryAsync(
                    accounts => $"{accounts.Ran} {accounts.Twice} {accounts.Total(Number(call[1]))}",
                    cancellationToken: cancellationToken),
            };
        }
        catch (MachineException e) when (e is not ReplicaBusyException)
        {
            // No replica goes on from here: a correct machine never comes to this.
            return $"stopped {e.Message}";
        }
        catch (Corfu.CorfuException e)
        {
            // Nothing of this call is in the log: its client tries again.
            return $"failed {e.Message}";
        }
    }

    private static async Task<string> TransferAsync(
        Replica<Accounts> replica, string[] call, CancellationToken cancellationToken)
    {
        long number = Number(call[2]);
        var transfer = new Transfer(call[3], Number(call[4]), Number(call[5]), Number(call[6]));
        // The client sends one transfer at a time, and has the answers of all before.
        CommandOutcome outcome = await replica.Attach(long.Parse(call[1], CultureInfo.InvariantCulture)).ProposeAsync(
            number, Accounts.Encode(transfer, Accounts.Options), answeredBelow: number, cancellationToken);
        return outcome.HasResult
            ? $"{outcome.Status} {Accounts.Decode(outcome, Accounts.Options).Done}"
            : $"{outcome.Status}";
    }

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}
