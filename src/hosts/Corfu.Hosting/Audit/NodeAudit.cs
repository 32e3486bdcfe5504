using System.Globalization;
using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>Decides which events become lines: each change once, though it is asked for again and again. Any
/// thread.</summary>
internal sealed class NodeAudit : IAsyncDisposable
{
    private const int RememberedProposals = 16;

    // A program trims all the time: its first line is written at once, then its newest of each interval. Each peer has
    // lines of its own: the next trim of a program does not hide one of a stolen key.
    private static readonly TimeSpan TrimInterval = TimeSpan.FromSeconds(10);

    // A page that is open asks again and again.
    private static readonly TimeSpan ViewInterval = TimeSpan.FromMinutes(10);
    private const int RememberedViewers = 256;

    private readonly AuditLog _log;
    private readonly ITimer _flush;
    private readonly Lock _gate = new();

    // Guarded by _gate: what was written last of each role, and trims that wait for the interval's end.
    private readonly Dictionary<(NodeId Role, Opcode Opcode), long> _written = [];
    private readonly Dictionary<(NodeId Role, AuditWho Who), (long Below, long Epoch)> _trims = [];
    private readonly Queue<(Projection Value, AuditWho Who)> _proposals = [];
    private readonly Dictionary<AuditWho, long> _viewers = [];
    private readonly TimeProvider _time;

    public NodeAudit(AuditLog log, TimeProvider time)
    {
        (_log, _time) = (log, time);
        _flush = time.CreateTimer(static audit => ((NodeAudit)audit!).FlushTrims(), this, TrimInterval, TrimInterval);
    }

    public string? Fault => _log.Fault;

    /// <summary>The audit of a node, which hears of what its listener refuses; null where none is wanted.</summary>
    public static NodeAudit? Open(NodeOptions options, RoleRegistry registry, ILoggerFactory loggers, TimeProvider time)
    {
        if (options.AuditFolder is not { } folder) return null;
        var audit = new NodeAudit(
            new AuditLog(folder, options.Name, time, loggers.CreateLogger<CorfuNode>()), time);
        registry.Denied = audit.Denied;
        registry.Refused = audit.Refused;
        return audit;
    }

    public static IRoleHandler Around(IRoleHandler role, NodeAudit? audit) =>
        audit is null ? role : new AuditedRole(role, audit);

    public static bool Concerns(Opcode opcode) =>
        opcode is Opcode.Accept or Opcode.Decided or Opcode.Seal or Opcode.TrimPrefix or Opcode.SetAutomation
            or Opcode.Deny;

    /// <summary>A request was answered. One that changed nothing is no line: a denied one comes through
    /// <see cref="Denied"/>.</summary>
    public void Answered(NodeId role, Request request, Principal who, Response answer)
    {
        if (!answer.IsOk) return;
        var by = AuditWho.Of(who);
        switch (request)
        {
            case AcceptRequest accept:
                Remember(accept.Value, by);
                if (IsNew(role, accept.Opcode, HashCode.Combine(accept.Ballot, accept.Value), ordered: false))
                    Add(accept, by, $"{Of(accept.Value)} under ballot {accept.Ballot.Round}");
                break;
            case DecidedRequest decided:
                Remember(decided.Value, by);
                if (IsNew(role, decided.Opcode, decided.Epoch.Value)) Add(decided, by, Of(decided.Value));
                break;
            case SealRequest seal:
                if (IsNew(role, seal.Opcode, seal.Epoch.Value)) Add(seal, by, $"unit {role}");
                break;
            case TrimPrefixRequest trim:
                Trimmed(role, by, trim);
                break;
            case SetAutomationRequest { Automation: var automation } set:
                if (IsNew(role, set.Opcode, automation.Version))
                    Add(set, by, automation.IsOn ? "on" : "off");
                break;
            case DenyRequest deny:
                Add(deny, by, string.Join(", ", deny.Certificates.Select(one => one.Serial).Take(16)));
                break;
        }
    }

    /// <summary>The node goes on with a decided epoch.</summary>
    public void Adopted(Projection projection)
    {
        AuditWho? who;
        lock (_gate) who = _proposals.FirstOrDefault(proposal => proposal.Value.Equals(projection)).Who;
        _log.Add("Adopted", who, projection.Reason, epoch: projection.Epoch.Value);
    }

    public void Denied(Denial denial) => _log.Add("Denied", AuditWho.Of(denial.Peer), denial.Opcode.ToString(),
        string.Create(CultureInfo.InvariantCulture, $"refused, {denial.Count} times"));

    /// <summary>A handshake was refused; the caller bounds how often it says so.</summary>
    public void Refused(string address, string reason) =>
        _log.Add("Refused", new AuditWho("none", address), "handshake", reason);

    /// <summary>A peer looks at the console.</summary>
    public void Viewed(AuditWho who)
    {
        lock (_gate)
        {
            if (_viewers.TryGetValue(who, out var last) && _time.GetElapsedTime(last) < ViewInterval) return;

            // Forgetting costs a further line, and no line is ever missing.
            if (_viewers.Count == RememberedViewers) _viewers.Clear();
            _viewers[who] = _time.GetTimestamp();
        }

        _log.Add("Console", who, "pages");
    }

    /// <summary>The node has another certificate, or trusts other ones.</summary>
    public void Renewed(ClusterTls tls)
    {
        var own = tls.Source.Current;
        Note("Certificate", string.Create(CultureInfo.InvariantCulture,
            $"{own.Identity}, serial {own.Certificate.SerialNumber}, until {own.NotAfter:yyyy-MM-dd HH:mm}Z, "
            + $"{own.Anchors.Count} anchors"));
    }

    /// <summary>An event of the node itself.</summary>
    public void Note(string @event, string what, string outcome = "Ok") => _log.Add(@event, null, what, outcome);

    public async ValueTask DisposeAsync()
    {
        await _flush.DisposeAsync();
        FlushTrims();
        await _log.DisposeAsync();
    }

    private static string Of(Projection projection) => $"{projection}: {projection.Reason}";

    private void Add(Request request, AuditWho who, string what) =>
        _log.Add(request.Opcode.ToString(), who, what, epoch: request.Epoch.Value);

    private void Trimmed(NodeId role, AuditWho who, TrimPrefixRequest trim)
    {
        lock (_gate)
        {
            if (!IsNew(role, Opcode.TrimPrefix, trim.Below.Offset)) return;
            var isFirst = !_trims.ContainsKey((role, who));
            _trims[(role, who)] = isFirst ? (-1, 0) : (trim.Below.Offset, trim.Epoch.Value);
            if (isFirst) AddTrim(role, who, trim.Below.Offset, trim.Epoch.Value);
        }
    }

    private void FlushTrims()
    {
        lock (_gate)
        {
            foreach (var ((role, who), (below, epoch)) in _trims)
            {
                if (below >= 0) AddTrim(role, who, below, epoch);
            }

            _trims.Clear();
        }
    }

    private void AddTrim(NodeId role, AuditWho who, long below, long epoch) => _log.Add(nameof(Opcode.TrimPrefix), who,
        string.Create(CultureInfo.InvariantCulture, $"below {below}, unit {role}"), epoch: epoch);

    // Numbers of most requests only rise; ballots and values are other ones each time.
    private bool IsNew(NodeId role, Opcode opcode, long value, bool ordered = true)
    {
        lock (_gate)
        {
            var key = (role, opcode);
            if (_written.TryGetValue(key, out var last) && (ordered ? value <= last : value == last)) return false;
            _written[key] = value;
            return true;
        }
    }

    private void Remember(Projection projection, AuditWho who)
    {
        lock (_gate)
        {
            if (_proposals.Any(proposal => proposal.Value.Equals(projection))) return;
            if (_proposals.Count == RememberedProposals) _proposals.Dequeue();
            _proposals.Enqueue((projection, who));
        }
    }
}
