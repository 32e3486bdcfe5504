using System.CommandLine;
using System.Globalization;
using System.Text;
using NamenodeSample.Journaling;
using NamenodeSample.Tree;
using Tango;
using Tango.Ledgers;

namespace NamenodeSample.Serving;

/// <summary>A namenode as a process of a run.</summary>
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

    // A standby is behind by some milliseconds; on a loaded machine, by the time until its process runs again.
    private static readonly TimeSpan s_late = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(5);

    private readonly Namenode _namenode = new();

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
        Task service = _namenode.ServeAsync(journal, name, lease, stop.Token);
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

    private async Task<string?> AnswerAsync(string[] call, CancellationToken cancellationToken)
    {
        try
        {
            if (call[0] == "print")
                return await PrintAsync(long.Parse(call[1], CultureInfo.InvariantCulture), cancellationToken);
            if (_namenode.Active is not { } active) return Answers.Standby;
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
        while (_namenode.Tree.Use(static tree => tree.LastId) < last
            && TimeProvider.System.GetElapsedTime(began) < s_late)
            await Task.Delay(s_poll, cancellationToken);
        return Convert.ToBase64String(Encoding.UTF8.GetBytes(_namenode.Tree.Use(static tree => tree.Print())));
    }
}
