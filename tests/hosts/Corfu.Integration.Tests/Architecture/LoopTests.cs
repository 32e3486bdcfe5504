using System.Text.RegularExpressions;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>
/// Work that serves several callers, or outlives the one that starts it, is started through LoopContext: what else is
/// started and not awaited runs on a caller's context, and hangs with it.
/// </summary>
public sealed partial class LoopTests
{
    // A folder or a file, and why what it starts needs no LoopContext.
    private static readonly (string Path, string Reason)[] s_allowed =
    [
        ("src/base/Corfu.Storage/Device/", "a server's own threads have no context"),
        ("src/base/Corfu.Abstractions/Shell/LoopContext.cs", "it is what starts the others"),
        ("src/log/Corfu.Unit/", "a server's own threads, and Kestrel's, have no context"),
        ("src/stores/Craq/", "a node's own threads, and Kestrel's, have no context"),
        ("src/stores/Salus.Nbd/", "Kestrel's threads have no context"),
        ("src/stores/Salus.Store/StoreHandler.cs", "Kestrel's threads have no context"),
        ("src/base/Corfu.Register/Storage/", "a server's own threads have no context"),
        ("src/base/Corfu.Register/Acceptor.cs", "Kestrel's threads have no context"),
        ("src/base/Corfu.Server/", "Kestrel's threads have no context"),
        ("src/hosts/Corfu.Cli/", "the program has no context, and one caller"),
        ("src/hosts/Corfu.Grpc.Client/AppendCall.cs", "its pipe's loop starts it, and waits for its end"),
        ("src/hosts/Corfu.Grpc/Log/AppendStream.cs", "one call starts it and waits for its end"),
        ("src/hosts/Corfu.Grpc/Tango/RememberedTransactions.cs", "it looks at an exception, on the pool"),
        ("src/hosts/Corfu.Hosting/Node/CorfuNode.cs", "it reports a failure, and names its scheduler"),
        ("src/base/Corfu.Transport/Client/ClientConnection.Output.cs", "each of its waits resumes on the pool"),
        ("src/base/Corfu.Abstractions/Shell/", "it looks at an exception"),
        ("src/log/Corfu.Client/Layout/", "a message that nothing waits for"),
        ("src/log/Corfu.Client/Reconfiguration/SealRound.cs", "it ends calls that nothing waits for"),
        ("src/tango/Tango/Calls/SpillCall.cs", "it looks at an exception"),
        ("src/tango/Tango/Checkpoints/CheckpointReader.cs", "it looks at an exception"),
        ("src/tango/Tango/Checkpoints/CheckpointWriter.cs", "it looks at an exception"),
    ];

    [Fact]
    public void Shared_work_is_started_through_LoopContext()
    {
        var started = from file in Repository.Sources("src")
                      let path = file.Replace('\\', '/')
                      where !s_allowed.Any(allowed => path.StartsWith(allowed.Path, StringComparison.Ordinal))
                      from line in FindStarts(File.ReadAllLines(Path.Combine(Repository.Root, file)))
                      select $"{path}: {line}";
        Assert.Empty(started);
    }

    [Fact]
    public void Allowance_is_still_needed()
    {
        var unneeded = from allowed in s_allowed
                       where !Repository.Sources("src").Any(file =>
                           file.Replace('\\', '/').StartsWith(allowed.Path, StringComparison.Ordinal)
                           && FindStarts(File.ReadAllLines(Path.Combine(Repository.Root, file))).Any())
                       select allowed.Path;
        Assert.Empty(unneeded);
    }

    [Theory]
    [InlineData("_ = RunAsync();")]
    [InlineData("if (first) _ = player.RunAsync(end);")]
    [InlineData("using (ExecutionContext.SuppressFlow()) _ = RunAsync();")]
    [InlineData("_running = RunAsync(_stop.Token);")]
    [InlineData("batches.Last = next.Done = RunAsync(view, next);")]
    [InlineData("public void Start() => _running = RunAsync();")]
    [InlineData("if (first) PollAsync().Abandon();")]
    [InlineData("_ = Task.Run(Loop);")]
    [InlineData("Task.Factory.StartNew(Loop);")]
    [InlineData("private async void Run()")]
    [InlineData("_ = task.ContinueWith(Next);")]
    public void Start_of_a_loop_is_found(string line) => Assert.Single(FindStarts([line]));

    [Theory]
    [InlineData("loops.Start(RunAsync);")]
    [InlineData("_running = LoopContext.Pool.RunAsync(RunAsync);")]
    [InlineData("_running = await RunAsync();")]
    [InlineData("Task<int> asking = AskAsync();")]
    [InlineData("// As with Task.Run.")]
    public void Awaited_work_and_work_started_through_LoopContext_is_not_found(string line) =>
        Assert.Empty(FindStarts([line]));

    private static IEnumerable<string> FindStarts(IEnumerable<string> lines) =>
        from line in lines
        let code = line.Trim()
        where !code.StartsWith('/') && !code.Contains("await ", StringComparison.Ordinal)
        where !ThroughLoopContext().IsMatch(code) && Start().IsMatch(code)
        select code;

    [GeneratedRegex(@"\b[lL]oops\.(Start|RunAsync)\(|LoopContext\.Pool\.(Start|RunAsync)\(")]
    private static partial Regex ThroughLoopContext();

    // A call whose task is dropped, or kept in a field or property; and what starts a task itself.
    [GeneratedRegex(
        @"(^|[\s)])_ = (\w+\.)*\w+Async\(|\b(_\w+|\w+\.\w+) = (\w+\.)*\w+Async\(|Async\([^;]*\)\.Abandon\(\)"
        + @"|\bTask\.Run\(|\bTask\.Factory\b|\bnew Thread\(|\basync void\b|\.ContinueWith\(|\bSuppressFlow\b")]
    private static partial Regex Start();
}
