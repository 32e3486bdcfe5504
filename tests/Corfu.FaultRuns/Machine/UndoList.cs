namespace Corfu.FaultRuns.Machine;

/// <summary>
/// What has to be taken away again, as shell commands in a file beside the run's data: executed backwards at the end, at Ctrl-C, or by
/// <c>cleanup</c> after a run that was killed.
/// </summary>
internal sealed class UndoList
{
    private readonly Lock _gate = new();
    private readonly List<string> _commands = [];
    private readonly string _file;
    private bool _done;

    public UndoList(string folder)
    {
        Folder = folder;
        Directory.CreateDirectory(folder);
        _file = Path.Combine(folder, "undo");
        AppDomain.CurrentDomain.ProcessExit += (_, _) => Run();
    }

    public static string Root { get; } = Path.Combine(Path.GetTempPath(), "corfu-fault-runs");

    public string Folder { get; }

    public static UndoList New() => new(Path.Combine(Root, $"{Environment.ProcessId}"));

    public void Add(string command)
    {
        lock (_gate)
        {
            _commands.Add(command);
            File.AppendAllText(_file, command + "\n");
        }
    }

    /// <summary>A process is killed only while it is still the one that was started, by what its command line says.</summary>
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
        }
    }

    /// <summary>What killed runs have left.</summary>
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
