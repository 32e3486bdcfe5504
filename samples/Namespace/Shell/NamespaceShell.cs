using System.Collections.Immutable;
using System.Globalization;
using Corfu;
using NamespaceSample.Model;
using NamespaceSample.Service;
using NamespaceSample.Watch;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Shell;

/// <summary>Commands by a person, or from a pipe.</summary>
/// <param name="prompts">Whether a person is there.</param>
public sealed class NamespaceShell(
    NamespaceService service, TextReader input, TextWriter output, bool prompts, TimeProvider time)
{
    private const string Help =
        """
        mkdir PATH                 make a directory
        create PATH [SIZE]         create a file
        write PATH SIZE            give a file new contents
        attr PATH NAME [VALUE]     set an attribute; without a value, remove it
        mv FROM TO                 move a file, or a directory with all that is in it
        rm [-r] PATH               delete a file or directory; -r: and all that is in it
        ls [PATH]                  what is in a directory
        tree [PATH]                what is in it, and below
        stat PATH                  a file or directory
        watch [PATH] [COUNT]       changes as they come: so many, or until the input's next line
        exit
        """;

    private static readonly char[] s_blanks = [' ', '\t'];

    /// <summary>Runs commands until the input ends, or says exit.</summary>
    /// <returns>How many failed.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        if (prompts) await output.WriteLineAsync("A namespace in two partitions. 'help' lists the commands.");
        for (int failed = 0; ;)
        {
            if (prompts) await output.WriteAsync("> ");
            string? line = await input.ReadLineAsync(cancellationToken);
            string[] words = line?.Split(s_blanks, StringSplitOptions.RemoveEmptyEntries) ?? ["exit"];
            if (words is ["exit" or "quit"]) return failed;
            if (words.Length == 0 || words[0].StartsWith('#')) continue;
            try
            {
                await RunAsync(words, cancellationToken);
            }
            catch (Exception e) when (e is NamespaceException or TangoException or CorfuException)
            {
                failed++;
                await output.WriteLineAsync($"error: {e.Message}");
            }
            catch (FormatException)
            {
                failed++;
                await output.WriteLineAsync($"error: '{line}' is no command; 'help' lists them");
            }
        }
    }

    private Task RunAsync(string[] words, CancellationToken cancellationToken) => words switch
    {
        ["help"] => output.WriteLineAsync(Help),
        ["mkdir", var path] => ChangeAsync(new NamespaceChange.MakeDirectory(path, NewId(), Now), cancellationToken),
        ["create", var path] => ChangeAsync(new NamespaceChange.CreateFile(path, NewId(), 0, Now), cancellationToken),
        ["create", var path, var size] =>
            ChangeAsync(new NamespaceChange.CreateFile(path, NewId(), Number(size), Now), cancellationToken),
        ["write", var path, var size] =>
            ChangeAsync(new NamespaceChange.Write(path, Number(size), Now), cancellationToken),
        ["attr", var path, var name] =>
            ChangeAsync(new NamespaceChange.SetAttribute(path, name, null, Now), cancellationToken),
        ["attr", var path, var name, .. var value] => ChangeAsync(
            new NamespaceChange.SetAttribute(path, name, string.Join(' ', value), Now), cancellationToken),
        ["mv", var from, var to] => ChangeAsync(new NamespaceChange.Rename(from, to, Now), cancellationToken),
        ["rm", "-r", var path] => ChangeAsync(new NamespaceChange.Delete(path, true, Now), cancellationToken),
        ["rm", var path] => ChangeAsync(new NamespaceChange.Delete(path, false, Now), cancellationToken),
        ["ls"] => ListAsync(TreePath.Root, cancellationToken),
        ["ls", var path] => ListAsync(path, cancellationToken),
        ["tree"] => TreeAsync(TreePath.Root, cancellationToken),
        ["tree", var path] => TreeAsync(path, cancellationToken),
        ["stat", var path] => StatAsync(path, cancellationToken),
        ["watch"] => WatchAsync(TreePath.Root, null, cancellationToken),
        ["watch", var path] => WatchAsync(path, null, cancellationToken),
        ["watch", var path, var count] => WatchAsync(path, (int)Number(count), cancellationToken),
        _ => throw new FormatException(),
    };

    private long Now => time.GetUtcNow().ToUnixTimeSeconds();

    private static string NewId() => Guid.NewGuid().ToString("N");

    private static long Number(string text) => long.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture);

    private static string Line(EntryStatus status) => string.Create(CultureInfo.InvariantCulture,
        $"{(status.Entry.IsDirectory ? "d" : "-")} {status.Entry.Size,10} r{status.Entry.Revision,-4} "
        + $"{DateTimeOffset.FromUnixTimeSeconds(status.Entry.Modified):yyyy-MM-dd HH:mm} {status.Path}"
        + $"{(status.Entry.IsDirectory ? "/" : "")}");

    private async Task ChangeAsync(NamespaceChange change, CancellationToken cancellationToken) =>
        await service.ChangeAsync(change, cancellationToken);

    private async Task ListAsync(string path, CancellationToken cancellationToken)
    {
        foreach (EntryStatus status in await service.ListAsync(path, cancellationToken))
            await output.WriteLineAsync(Line(status));
    }

    private async Task TreeAsync(string path, CancellationToken cancellationToken)
    {
        if (!TreePath.IsValid(path)) throw new NamespaceException(NamespaceError.BadPath, path);
        // A directory's entries stand behind it, and before names that only begin as it does.
        var entries = (await service.ReadAllAsync(cancellationToken)).Entries
            .Where(pair => TreePath.IsWithin(pair.Key, path))
            .OrderBy(static pair => pair.Key.Replace('/', '\0'), StringComparer.Ordinal).ToImmutableArray();
        if (entries.IsEmpty && path != TreePath.Root) throw new NamespaceException(NamespaceError.NotFound, path);
        foreach ((string below, Entry entry) in entries)
            await output.WriteLineAsync(entry.IsDirectory ? $"{below}/" : below);
    }

    private async Task StatAsync(string path, CancellationToken cancellationToken)
    {
        EntryStatus status = await service.StatAsync(path, cancellationToken);
        await output.WriteLineAsync($"{Line(status)}  id {status.Entry.Id}");
        foreach ((string name, string value) in status.Attributes) await output.WriteLineAsync($"  {name} = {value}");
    }

    private async Task WatchAsync(string path, int? count, CancellationToken cancellationToken)
    {
        if (!TreePath.IsValid(path)) throw new NamespaceException(NamespaceError.BadPath, path);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task end = count is null ? StopAtLineAsync(stop) : Task.CompletedTask;
        try
        {
            int left = count ?? int.MaxValue;
            if (left == 0) return;
            await foreach (NamespaceEvent change in NamespaceWatch.ReadAsync(
                service, path, WatchPlace.Now, stop.Token))
            {
                await output.WriteLineAsync($"{(change.Entry is null ? "removed" : "changed")} {change.Path}");
                if (--left == 0) break;
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The next line has come.
        }

        await end;
    }

    private async Task StopAtLineAsync(CancellationTokenSource stop)
    {
        await input.ReadLineAsync(stop.Token);
        await stop.CancelAsync();
    }
}
