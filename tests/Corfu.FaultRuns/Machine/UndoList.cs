using System.Diagnostics;

namespace Corfu.FaultRuns.Machine;

/// <summary>
/// Undo commands for the shell, in a file beside the run's data. They are executed backwards at the end, at Ctrl-C, or
/// by another process when this one was killed; <c>cleanup</c> executes them when that was killed too.
/// </summary>
internal sealed class UndoList
{
    private readonly Lock _gate = new();
    private readonly List<string> _commands = [];
    private readonly string _file;
    private bool _done;

    // Held for as long as this process lives.
    private Process? _guard;

    public UndoList(string folder)
    {
        Folder = folder;
        Directory.CreateDirectory(folder);
        _file = Path.Combine(folder, "undo");
        AppDomain.CurrentDomain.ProcessExit += (_, _) => Run();
    }

    public static string Root { get; } = Path.Combine(Path.GetTempPath(), "corfu-fault-runs");

    public string Folder { get; }

    /// <summary>The list of this run. Another process waits for this one's end, however it ends, and executes the
    /// commands that are left.</summary>
    public static UndoList New()
    {
        var undo = new UndoList(Path.Combine(Root, $"{Environment.ProcessId}"));
        undo.Guard();
        return undo;
    }

    public void Add(string command)
    {
        lock (_gate)
        {
            _commands.Add(command);
            File.AppendAllText(_file, command + "\n");
        }
    }

    /// <summary>A process is killed only while it is still the one that was started, by what its command line
    /// says.</summary>
    public void AddProcess(int processId, string mark) =>
        Add($"grep -qaF '{mark}' /proc/{processId}/cmdline 2>/dev/null && kill -9 {processId}");

    public void Run()
    {
        lock (_gate)
        {
            if (_done) return;
            _done = true;
            Execute(_commands);
            Remove(Folder);
            _guard?.StandardInput.Dispose();
        }
    }

    /// <summary>Undoes the leftovers of killed runs.</summary>
    public static int Cleanup(TextWriter output)
    {
        if (!Directory.Exists(Root)) return 0;
        foreach (var folder in Directory.GetDirectories(Root))
        {
            if (int.TryParse(Path.GetFileName(folder), out var id) && Directory.Exists($"/proc/{id}")) continue;
            var file = Path.Combine(folder, "undo");
            if (File.Exists(file)) Execute(File.ReadAllLines(file));
            Remove(folder);
            output.WriteLine($"removed what run {Path.GetFileName(folder)} had left");
        }

        return 0;
    }

    // Starts the guard. The guard's standard input ends with this process; in a session of its own Ctrl-C does not
    // reach it. After an orderly end there is no file.
    private void Guard()
    {
        const string Script =
            "exec > /dev/null 2>&1; cat; [ -f \"$1/undo\" ] || exit 0; tac \"$1/undo\" | while read -r c; do sh -c "
            + "\"$c\"; done; rm -rf --one-file-system \"$1\"";
        _guard =
            Process.Start(new ProcessStartInfo("setsid", ["sh", "-c", Script, "guard", Folder])
            { RedirectStandardInput = true });
    }

    private static void Execute(IReadOnlyList<string> commands)
    {
        for (var i = commands.Count - 1; i >= 0; i--) Shell.LineAsync(commands[i]).GetAwaiter().GetResult();
    }

    private static void Remove(string folder)
    {
        // A mount that could not be taken away keeps its folder; everything else goes.
        Shell.RunAsync("rm", "-rf", "--one-file-system", folder).GetAwaiter().GetResult();
    }
}
