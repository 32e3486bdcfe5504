using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>Limits and times of a <see cref="CorfuClient"/>.</summary>
public sealed record CorfuClientOptions
{
    public static readonly CorfuClientOptions Default = new();

    /// <summary>Bytes. At most what the cluster's units accept.</summary>
    public int MaxPayload { get; init; } = EntryCodec.DefaultMaxPayload;

    /// <summary>Appends on their way at once; more wait. Default 4,096.</summary>
    public int MaxAppendsInFlight { get; init; } = 4096;

    /// <summary>
    /// Appends that wait for others to end; more are refused with <see cref="LogOverloadedException"/>. Default 65,536.
    /// </summary>
    public int MaxAppendsWaiting { get; init; } = 65536;

    /// <summary>Tokens in one request: concurrent appends to the same streams share one.</summary>
    public int MaxTokensPerRequest { get; init; } = 256;

    /// <summary>Token requests on their way at once per set of streams.</summary>
    public int TokenRequestsInFlight { get; init; } = 2;

    /// <summary>Checks on their way at once; callers meanwhile share the next one.</summary>
    public int ChecksInFlight { get; init; } = 4;

    /// <summary>
    /// A chain that has not confirmed the epoch after this long is passed over: another one is asked as well.
    /// </summary>
    public TimeSpan ConfirmTimeout { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>
    /// A sequencer that has not answered a check after this long is taken for silent: the units are asked for the tail
    /// (Tango 2.2).
    /// </summary>
    public TimeSpan SlowCheckDelay { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Positions that one check without a sequencer looks through for the newest ones of its streams; beyond that it
    /// waits for a sequencer.
    /// </summary>
    public int MaxSlowCheckScan { get; init; } = 65536;

    /// <summary>
    /// An operation that cannot be finished for so long, unreachable nodes or none that would serve it, is given up.
    /// </summary>
    public TimeSpan OperationTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// First pause before something is tried again; doubles, with jitter, up to <see cref="MaxRetryDelay"/>.
    /// </summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(1);

    public TimeSpan MaxRetryDelay { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>
    /// While nodes do not answer, the acceptors tell of a newer projection as soon as there is one; in case that word
    /// is lost they are asked at most so often.
    /// </summary>
    public TimeSpan RefreshInterval { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// And less often the longer that lasts: after this share of the time that it has lasted, up to
    /// <see cref="MaxRetryDelay"/>.
    /// </summary>
    public double RefreshShare { get; init; } = 0.1;

    /// <summary>
    /// Nodes are sealed but no next projection is decided for so long: its proposer is taken for dead, and the same
    /// membership is proposed (R14).
    /// </summary>
    public TimeSpan SuccessorTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long a granted position may stay unwritten before it is filled (R10). A write that has arrived at the head
    /// is no hole, so this need only cover the way of a message between two processes. 4 to 20 ms do; default 10.
    /// </summary>
    public TimeSpan HoleWait { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Grace that a writer asks for after it has lost twice in a row (R10); doubles with every further loss, up to
    /// <see cref="MaxGrace"/>.
    /// </summary>
    public TimeSpan Grace { get; init; } = TimeSpan.FromMilliseconds(40);

    public TimeSpan MaxGrace { get; init; } = TimeSpan.FromMilliseconds(640);

    /// <summary>
    /// A replica that has not answered a read of committed pages after this long is given up in favour of another full
    /// one.
    /// </summary>
    public TimeSpan ReadTimeout { get; init; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Damaged pages that wait to be mended; more are left to those who meet them next.</summary>
    public int MaxRepairsWaiting { get; init; } = 1024;

    public TcpTransportOptions Tcp { get; init; } = new();

    public LayoutClientOptions Layout { get; init; } = new();

    public ReconfigurerOptions Reconfiguration { get; init; } = new();

    /// <summary>All faults in one message.</summary>
    public void Validate()
    {
        List<string> faults = [];
        Require(MaxPayload is > 0 and <= MessageLimits.MaxFrame / 2, nameof(MaxPayload));
        Require(MaxAppendsInFlight > 0, nameof(MaxAppendsInFlight));
        Require(MaxAppendsWaiting >= 0, nameof(MaxAppendsWaiting));
        Require(MaxTokensPerRequest is > 0 and <= MessageLimits.MaxTokens, nameof(MaxTokensPerRequest));
        Require(TokenRequestsInFlight > 0, nameof(TokenRequestsInFlight));
        Require(ChecksInFlight > 0, nameof(ChecksInFlight));
        Require(OperationTimeout > TimeSpan.Zero, nameof(OperationTimeout));
        Require(RetryDelay > TimeSpan.Zero, nameof(RetryDelay));
        Require(MaxRetryDelay >= RetryDelay, nameof(MaxRetryDelay));
        Require(RefreshInterval > TimeSpan.Zero, nameof(RefreshInterval));
        Require(RefreshShare > 0, nameof(RefreshShare));
        Require(SuccessorTimeout > TimeSpan.Zero, nameof(SuccessorTimeout));
        Require(HoleWait > TimeSpan.Zero, nameof(HoleWait));
        Require(ConfirmTimeout > TimeSpan.Zero, nameof(ConfirmTimeout));
        Require(SlowCheckDelay > TimeSpan.Zero, nameof(SlowCheckDelay));
        Require(MaxSlowCheckScan > 0, nameof(MaxSlowCheckScan));
        Require(ReadTimeout > TimeSpan.Zero, nameof(ReadTimeout));
        Require(MaxRepairsWaiting > 0, nameof(MaxRepairsWaiting));
        Require(Grace > TimeSpan.Zero && Grace.TotalMilliseconds <= ushort.MaxValue, nameof(Grace));
        Require(MaxGrace >= Grace && MaxGrace.TotalMilliseconds <= ushort.MaxValue, nameof(MaxGrace));
        if (faults.Count > 0)
            throw new ArgumentException($"Out of range in {nameof(CorfuClientOptions)}: {string.Join(", ", faults)}.");

        void Require(bool condition, string name)
        {
            if (!condition) faults.Add(name);
        }
    }
}
