using System.Globalization;
using System.IO.Compression;

namespace JobScheduler.Workloads;

/// <summary>
/// Reads a trace in the Standard Workload Format (Chapin et al. 1999): comment lines start with a semicolon, every
/// other line is one job of 18 numbers, -1 meaning unknown. Plain text or gzip, told apart by the first two bytes.
/// </summary>
public static class SwfReader
{
    private const int FieldCount = 18;

    // Times beyond this (30 million years) are damage, and sums of them could overflow.
    private const long MaxSeconds = 1_000_000_000_000_000;

    private static readonly string[] FieldNames =
    [
        "job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
        "requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
        "partition",
        "preceding job", "think time",
    ];

    /// <summary>Reads <paramref name="path"/>; <paramref name="defaultNodes"/> is the machine's size when the header
    /// does not say.</summary>
    /// <exception cref="TraceFormatException">The file cannot be opened or a line is not a job that this machine can
    /// run.</exception>
    public static Workload Read(string path, int defaultNodes)
    {
        try
        {
            using FileStream file = File.OpenRead(path);
            return Read(file, path, defaultNodes);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new TraceFormatException(path, 0, null, $"cannot be read: {e.Message}", e);
        }
    }

    /// <summary>As the other, from a seekable stream; <paramref name="name"/> is how errors call it.</summary>
    public static Workload Read(Stream stream, string name, int defaultNodes)
    {
        using Stream content = IsGzip(stream)
            ? new GZipStream(stream, CompressionMode.Decompress, leaveOpen: true)
            : stream;
        using var reader = new StreamReader(content);
        var header = new SwfHeader();
        var jobs = new List<(Job Job, int Line)>();
        var lineOfJob = new Dictionary<long, int>();
        int line = 0;
        try
        {
            while (reader.ReadLine() is { } text)
            {
                line++;
                if (text.AsSpan().TrimStart().StartsWith(";"))
                {
                    header.Read(text);
                    continue;
                }

                if (string.IsNullOrWhiteSpace(text))
                    continue;
                Job job = ReadJob(new Fields(name, line, text));
                if (!lineOfJob.TryAdd(job.Number, line))
                    throw Fault(name, line, 1, $"job {job.Number} was already given in line {lineOfJob[job.Number]}");
                jobs.Add((job, line));
            }
        }
        catch (InvalidDataException e)
        {
            throw new TraceFormatException(name, line + 1, null, "the gzip data is damaged", e);
        }

        return Check(name, header.Nodes ?? defaultNodes, jobs);
    }

    private static Workload Check(string name, int nodes, List<(Job Job, int Line)> jobs)
    {
        if (jobs.Count == 0)
            throw new TraceFormatException(name, 0, null, "has no jobs");
        foreach ((Job job, int line) in jobs)
        {
            // The size came from field 8 only where field 5 is unknown; the user looks there first, so field 5 is
            // named.
            if (job.Nodes > nodes)
                throw Fault(name, line, 5, $"job {job.Number} needs {job.Nodes} nodes, the machine has {nodes}");
        }

        return new Workload(Path.GetFileName(name), nodes, jobs.Select(entry => entry.Job));
    }

    private static Job ReadJob(Fields fields)
    {
        long number = fields.Whole(1);
        if (number < 0)
            throw fields.Fault(1, $"{number} is not a job number");
        long submit = Seconds(fields, 2);
        long run = Seconds(fields, 4);
        long size = fields.Whole(5);
        int sizeField = 5;
        if (size == -1)
        {
            sizeField = 8;
            size = fields.Whole(8);
        }

        if (size is < 1 or > int.MaxValue)
            throw fields.Fault(sizeField, $"{size} is not a number of nodes");
        long user = fields.Whole(12);
        if (user is < -1 or > int.MaxValue)
            throw fields.Fault(12, $"{user} is not a user number");
        return new Job(number, submit, run, (int)size, (int)user);
    }

    private static long Seconds(Fields fields, int field)
    {
        long value = fields.Whole(field);
        return value switch
        {
            < 0 => throw fields.Fault(field, $"{value} is negative"),
            > MaxSeconds => throw fields.Fault(field, $"{value} seconds is too large"),
            _ => value,
        };
    }

    private static bool IsGzip(Stream stream)
    {
        Span<byte> magic = stackalloc byte[2];
        int read = stream.ReadAtLeast(magic, 2, throwOnEndOfStream: false);
        stream.Seek(-read, SeekOrigin.Current);
        return read == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    }

    private static TraceFormatException Fault(string file, int line, int field, string problem) =>
        new(file, line, $"field {field} ({FieldNames[field - 1]})", problem);

    /// <summary>The fields of one line. All 18 must be numbers, those that are used whole ones.</summary>
    private readonly struct Fields
    {
        private readonly string _file;
        private readonly int _line;
        private readonly string[] _values;

        public Fields(string file, int line, string text)
        {
            _file = file;
            _line = line;
            _values = text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
            for (int i = 0; i < Math.Min(FieldCount, _values.Length); i++)
            {
                if (!double.TryParse(_values[i], NumberStyles.Float, CultureInfo.InvariantCulture, out _))
                    throw Fault(i + 1, $"\"{Shorten(_values[i])}\" is not a number");
            }

            if (_values.Length < FieldCount)
                throw Fault(_values.Length + 1,
                    $"is missing: a job has {FieldCount} fields, this line has {_values.Length}");
            if (_values.Length > FieldCount)
                throw new TraceFormatException(file, line, $"field {FieldCount + 1}",
                    $"a job has {FieldCount} fields, this line has {_values.Length}");
        }

        public long Whole(int field) =>
            long.TryParse(_values[field - 1], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture,
                out long value)
                ? value
                : throw Fault(field, $"\"{Shorten(_values[field - 1])}\" is not a whole number in range");

        public TraceFormatException Fault(int field, string problem) => SwfReader.Fault(_file, _line, field, problem);

        private static string Shorten(string value) => value.Length <= 40 ? value : value[..40] + "...";
    }
}
