using System.Buffers.Binary;
using System.Security.Cryptography;

namespace JobScheduler.Workloads;

/// <summary>The jobs of one run in first-come order (submit time, then job number), and the machine they run
/// on.</summary>
public sealed class Workload
{
    /// <summary>Job numbers must be unique; the order given does not matter.</summary>
    public Workload(string name, int nodes, IEnumerable<Job> jobs)
    {
        Name = name;
        Nodes = nodes;
        Jobs = [.. jobs.OrderBy(job => job.SubmitSeconds).ThenBy(job => job.Number)];
    }

    public string Name { get; }

    public int Nodes { get; }

    public IReadOnlyList<Job> Jobs { get; }

    /// <summary>Divides every submit time by <paramref name="factor"/> (whole seconds, rounded down): the same jobs
    /// arrive in less time.</summary>
    public Workload Compress(double factor) => factor == 1
        ? this
        : new Workload(Name, Nodes,
            Jobs.Select(job => job with { SubmitSeconds = (long)Math.Floor(job.SubmitSeconds / factor) }));

    /// <summary>
    /// Names this exact workload (machine, jobs, times), so that a resumed run can refuse a log that was written for
    /// another one.
    /// </summary>
    public string Fingerprint()
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        Span<byte> record = stackalloc byte[32];
        BinaryPrimitives.WriteInt32LittleEndian(record, Nodes);
        hash.AppendData(record[..4]);
        foreach (Job job in Jobs)
        {
            BinaryPrimitives.WriteInt64LittleEndian(record, job.Number);
            BinaryPrimitives.WriteInt64LittleEndian(record[8..], job.SubmitSeconds);
            BinaryPrimitives.WriteInt64LittleEndian(record[16..], job.RunSeconds);
            BinaryPrimitives.WriteInt32LittleEndian(record[24..], job.Nodes);
            BinaryPrimitives.WriteInt32LittleEndian(record[28..], job.User);
            hash.AppendData(record);
        }

        return Convert.ToHexStringLower(hash.GetHashAndReset().AsSpan(0, 16));
    }
}
