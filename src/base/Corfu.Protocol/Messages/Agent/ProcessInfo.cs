namespace Corfu.Protocol;

/// <summary>State of a process for people and tools: build, clock, disks, certificates, connected identities.</summary>
public sealed record ProcessInfoRequest(Epoch Epoch) : Request<ProcessInfoResponse>(Opcode.ProcessInfo, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ProcessInfoResponse(status, epoch, ProcessReport.Read(ref r))
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ProcessInfoResponse(status, epoch, null);
}

/// <param name="Process">Null unless the status is <see cref="Status.Ok"/>.</param>
public sealed record ProcessInfoResponse(Status Status, Epoch Epoch, ProcessReport? Process) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) Process!.Write(ref w);
    }
}

/// <summary>A process of a cluster, as it sees itself.</summary>
public sealed record ProcessReport
{
    /// <summary>Identities in one report; those with the most connections come first.</summary>
    public const int MaxIdentities = 256;

    /// <summary>Folders, certificates and warnings in one report, of each.</summary>
    public const int MaxItems = 64;

    /// <summary>A number that the operating system does not tell.</summary>
    public const long Unknown = -1;

    /// <summary>The node's name in its configuration.</summary>
    public string Name { get; init; } = "";

    /// <summary>Version of the build, as packages and <c>corfu --version</c> give it.</summary>
    public string Build { get; init; } = "";

    /// <summary>Runtime and operating system.</summary>
    public string Platform { get; init; } = "";

    public ushort LowestProtocol { get; init; }

    public ushort HighestProtocol { get; init; }

    /// <summary>The process's clock when it answered.</summary>
    public DateTimeOffset Now { get; init; }

    public DateTimeOffset Started { get; init; }

    public long OpenFiles { get; init; } = Unknown;

    public long OpenFileLimit { get; init; } = Unknown;

    /// <summary>Bytes of memory that the process holds.</summary>
    public long Memory { get; init; } = Unknown;

    /// <summary>Bytes of memory that the process may hold: its control group's limit, or the machine's
    /// memory.</summary>
    public long MemoryLimit { get; init; } = Unknown;

    /// <summary>Bytes of the process that are swapped out.</summary>
    public long Swapped { get; init; } = Unknown;

    public TlsMode Tls { get; init; }

    /// <summary>The configuration allows plain connections at addresses other than loopback.</summary>
    public bool IsInsecure { get; init; }

    /// <summary>The folders that hold the process's data, each with its file system.</summary>
    public ImmutableArray<DiskReport> Disks { get; init; } = [];

    public ImmutableArray<CertificateReport> Certificates { get; init; } = [];

    public ImmutableArray<IdentityReport> Identities { get; init; } = [];

    /// <summary>Reasons why the process does not do all that it is for, or soon will not.</summary>
    public ImmutableArray<string> Warnings { get; init; } = [];

    /// <summary>Certificates that the process refuses before their end.</summary>
    public int DeniedCertificates { get; init; }

    /// <summary>As <see cref="PingRequest.DeniedDigest"/>: equal for equal lists.</summary>
    public ulong DeniedDigest { get; init; }

    internal void Write(ref WireWriter w)
    {
        w.Reason(Name);
        w.Reason(Build);
        w.Reason(Platform);
        w.UInt16(LowestProtocol);
        w.UInt16(HighestProtocol);
        w.Int64(Now.ToUnixTimeMilliseconds());
        w.Int64(Started.ToUnixTimeMilliseconds());
        w.Int64(OpenFiles);
        w.Int64(OpenFileLimit);
        w.Int64(Memory);
        w.Int64(MemoryLimit);
        w.Int64(Swapped);
        w.Byte((byte)Tls);
        w.Bool(IsInsecure);
        w.Array(First(Disks, MaxItems), static (ref w, disk) => disk.Write(ref w));
        w.Array(First(Certificates, MaxItems), static (ref w, certificate) => certificate.Write(ref w));
        w.Array(First(Identities, MaxIdentities), static (ref w, identity) => identity.Write(ref w));
        w.Array(First(Warnings, MaxItems), static (ref w, warning) => w.Reason(warning));
        w.Int32(DeniedCertificates);
        w.UInt64(DeniedDigest);
    }

    internal static ProcessReport Read(ref WireReader r) => new()
    {
        Name = r.Reason(),
        Build = r.Reason(),
        Platform = r.Reason(),
        LowestProtocol = r.UInt16(),
        HighestProtocol = r.UInt16(),
        Now = TimeOf(ref r),
        Started = TimeOf(ref r),
        OpenFiles = r.Int64(),
        OpenFileLimit = r.Int64(),
        Memory = r.Int64(),
        MemoryLimit = r.Int64(),
        Swapped = r.Int64(),
        Tls = (TlsMode)r.Byte(),
        IsInsecure = r.Bool(),
        Disks = r.Array(40, DiskReport.Read, MaxItems),
        Certificates = r.Array(29, CertificateReport.Read, MaxItems),
        Identities = r.Array(25, IdentityReport.Read, MaxIdentities),
        Warnings = r.Array(4, static (ref r) => r.Reason(), MaxItems),
        DeniedCertificates = r.Int32(),
        DeniedDigest = r.UInt64(),
    };

    internal static DateTimeOffset TimeOf(ref WireReader r)
    {
        var milliseconds = r.Int64();
        return milliseconds >= DateTimeOffset.MinValue.ToUnixTimeMilliseconds()
            && milliseconds <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? DateTimeOffset.FromUnixTimeMilliseconds(milliseconds)
            : throw new MalformedDataException("A time is beyond the calendar.");
    }

    private static ImmutableArray<T> First<T>(ImmutableArray<T> all, int limit) =>
        all.Length > limit ? all[..limit] : all;
}

/// <summary>A folder of a process, and the file system that it is on. A number that is not known is
/// <see cref="ProcessReport.Unknown"/>.</summary>
/// <param name="FileSystem">The type, such as <c>ext4</c> or <c>tmpfs</c>.</param>
/// <param name="Free">Bytes that the process may still write.</param>
/// <param name="Inodes">Files that the file system can hold; zero where it has no such limit.</param>
public sealed record DiskReport(string Path, string FileSystem, long Size, long Free, long Inodes, long FreeInodes)
{
    internal void Write(ref WireWriter w)
    {
        w.Reason(Path);
        w.Reason(FileSystem);
        w.Int64(Size);
        w.Int64(Free);
        w.Int64(Inodes);
        w.Int64(FreeInodes);
    }

    internal static DiskReport Read(ref WireReader r) =>
        new(r.Reason(), r.Reason(), r.Int64(), r.Int64(), r.Int64(), r.Int64());
}

/// <summary>A certificate that a process identifies itself by, or trusts.</summary>
/// <param name="Name">The URI, or the subject.</param>
/// <param name="Serial">Hexadecimal.</param>
/// <param name="IsAnchor">The process trusts what this certificate signed; else it is the process's own.</param>
public sealed record CertificateReport(string Name, string Serial, DateTimeOffset NotBefore, DateTimeOffset NotAfter,
    bool IsAnchor)
{
    /// <summary>Hexadecimal SHA-256 of the whole certificate.</summary>
    public string Fingerprint { get; init; } = "";

    internal void Write(ref WireWriter w)
    {
        w.Reason(Name);
        w.Reason(Serial);
        w.Int64(NotBefore.ToUnixTimeMilliseconds());
        w.Int64(NotAfter.ToUnixTimeMilliseconds());
        w.Bool(IsAnchor);
        w.Reason(Fingerprint);
    }

    internal static CertificateReport Read(ref WireReader r) =>
        new(r.Reason(), r.Reason(), ProcessReport.TimeOf(ref r), ProcessReport.TimeOf(ref r), r.Bool())
        {
            Fingerprint = r.Reason(),
        };
}

/// <summary>A peer of a process, with what its open connections have asked for.</summary>
/// <param name="Bytes">The size of these requests.</param>
public sealed record IdentityReport(string Name, AccessRole Role, int Connections, long Requests, long Bytes)
{
    internal void Write(ref WireWriter w)
    {
        w.Reason(Name);
        w.Byte((byte)Role);
        w.Int32(Connections);
        w.Int64(Requests);
        w.Int64(Bytes);
    }

    internal static IdentityReport Read(ref WireReader r) =>
        new(r.Reason(), (AccessRole)r.Byte(), r.Int32(), r.Int64(), r.Int64());
}

/// <summary>Connections that a process takes. Numbers are part of the wire format.</summary>
public enum TlsMode : byte
{
    /// <summary>Plain ones alone.</summary>
    Off = 0,

    /// <summary>TLS and plain ones, while a cluster moves to TLS.</summary>
    Both = 1,

    /// <summary>TLS alone.</summary>
    Required = 2,
}
