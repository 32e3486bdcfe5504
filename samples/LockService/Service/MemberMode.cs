using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Corfu.StateMachines;
using LockServiceSample.Machine;

namespace LockServiceSample.Service;

/// <summary>A member as a process.</summary>
/// <remarks>
/// <list type="bullet">
/// <item><c>acquire LOCK</c>: the token, once the lock is taken.</item>
/// <item><c>renew LOCK TOKEN</c>: whether the lock is held with the token.</item>
/// <item><c>release LOCK TOKEN</c></item>
/// <item><c>believed LOCK</c>: the token of this member's newest <c>acquire</c>, as a caller keeps it: the end of the
/// lease does not change it. 0: none.</item>
/// </list>
/// </remarks>
internal static class MemberMode
{
    public const string Name = "member";

    private static readonly ReplicaOptions s_options = new() { Machine = "locks", SnapshotCommands = 500 };

    public static Command CreateCommand()
    {
        var url = new Argument<string>("url");
        var name = new Argument<string>("name");
        var lease = new Argument<int>("lease");
        var command = new Command(Name, "Started by the program itself.") { url, name, lease };
        command.Hidden = true;
        command.SetAction((parse, stop) => RunAsync(parse.GetRequiredValue(url), parse.GetRequiredValue(name),
            TimeSpan.FromMilliseconds(parse.GetValue(lease)), stop));
        return command;
    }

    private static async Task<int> RunAsync(
        string connection, string name, TimeSpan lease, CancellationToken cancellationToken)
    {
        await using CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        await using Replica<Locks> replica = await Replica<Locks>.OpenAsync(
            log, "locks", static () => new Locks(), s_options, cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var member = new LockMember(replica, name, lease);
        Task keeping = member.KeepAsync(stop.Token);
        Task calls = CallServer.RunAsync((call, end) => AnswerAsync(member, call, end), stop.Token);
        Task first = await Task.WhenAny(calls, keeping);
        await stop.CancelAsync();
        // Both use the replica, which is disposed next.
        await Task.WhenAll(calls, keeping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await first;
        return SampleCommand.Success;
    }

    private static async Task<string?> AnswerAsync(
        LockMember member, string[] call, CancellationToken cancellationToken)
    {
        switch (call[0])
        {
            case "acquire":
                return $"{await member.AcquireAsync(call[1], cancellationToken)}";
            case "renew":
                return $"{await member.RenewAsync(call[1], Token(call), cancellationToken)}";
            case "release":
                await member.ReleaseAsync(call[1], Token(call), cancellationToken);
                return "released";
            default:
                return $"{member.Believed(call[1])}";
        }
    }

    private static long Token(string[] call) => long.Parse(call[2], CultureInfo.InvariantCulture);
}
