using System.CommandLine;
using Corfu;
using Corfu.Hosting;
using LockServiceSample.Run;
using LockServiceSample.Service;

namespace LockServiceSample;

/// <summary>The command line.</summary>
public static class LockCommand
{
    private const string Description =
        """
        A lock service as a replicated state machine, with fencing tokens. Holders of a lock are killed and stopped;
        what the lock guards refuses the token of a holder that comes back.
        """;

    /// <returns>0; 1: a token was wrong, or the run could not go on; 2: wrong arguments; 130: stopped by a
    /// signal.</returns>
    public static Task<int> InvokeAsync(string[] args, TextWriter errors) => SampleCommand.InvokeAsync(
        Create(), args, errors, static e => e is CorfuException or ChildProcessException or NodeStartException);

    private static RootCommand Create()
    {
        Option<int> kills = SampleCommand.Count("--kills", 0, "How often the holder is killed. Default 1.", 1);
        Option<int> stops = SampleCommand.Stops("How often the holder is stopped, and comes back.");
        Option<int> lease = SampleCommand.Count(
            "--lease", 200, "Milliseconds of silence after which a lock is freed. Default 1,000.", 1_000);
        var root = new RootCommand(Description) { kills, stops, lease, MemberMode.CreateCommand() };
        root.SetAction(async (parse, cancellationToken) =>
            await LockRun.RunAsync(parse.GetValue(kills), parse.GetValue(stops),
                TimeSpan.FromMilliseconds(parse.GetValue(lease)), cancellationToken)
                ? SampleCommand.Success
                : SampleCommand.Wrong);
        return root;
    }
}
