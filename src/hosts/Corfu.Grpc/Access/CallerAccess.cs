using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Checks the rights of callers, where the options require any.</summary>
internal sealed partial class CallerAccess(
    IAuthorizationService authorization, IOptions<CorfuGrpcOptions> options, TimeProvider time,
    ILogger<CallerAccess> logger)
{
    private readonly RefusalLog _refusals = new(time);

    public bool IsRequired => options.Value.RequireRights;

    public async ValueTask<bool> MayAsync(ServerCallContext context, Demand demand) => !IsRequired
        || (await authorization.AuthorizeAsync(
            context.GetHttpContext().User, demand.Resource, demand.Policy)).Succeeded;

    /// <exception cref="AccessDeniedException">A right is missing.</exception>
    public async ValueTask RequireAsync(ServerCallContext context, IEnumerable<Demand> demands)
    {
        if (!IsRequired) return;
        foreach (var demand in demands)
        {
            if (!await MayAsync(context, demand)) throw Refusal(context, demand);
        }
    }

    /// <summary>Refuses what only some callers may do. Without rights the front end's own option decides.</summary>
    /// <param name="isAllowed">The option of that name.</param>
    /// <exception cref="NotAllowedException">Nothing authenticates callers, and the option is off.</exception>
    public void RequireOption(bool isAllowed, string what, string option)
    {
        if (!IsRequired && !isAllowed) throw new NotAllowedException(what, option);
    }

    /// <summary>The rights for the entries of one call.</summary>
    public EntryAccess OfEntries(ServerCallContext context) => new(this, context);

    /// <summary>Rights that a call needs for as long as it runs.</summary>
    public StandingAccess Standing(ServerCallContext context, IEnumerable<Demand> demands) =>
        new(this, context, IsRequired ? [.. demands] : [], time);

    public AccessDeniedException Refusal(ServerCallContext context, Demand demand)
    {
        var caller = Callers.NameOf(context.GetHttpContext());
        GrpcTelemetry.Refused(context.Method);
        if (_refusals.Admits(out var leftOut))
        {
            if (leftOut > 0) LogLeftOut(logger, leftOut);
            LogRefused(logger, Printable(caller), context.Method, Printable(demand.ToString()));
        }

        return new AccessDeniedException(caller, demand);
    }

    // Names come from the network: a line feed would forge a line.
    private static string Printable(string text) =>
        string.Concat(text.Take(200).Select(static c => char.IsControl(c) ? '?' : c));

    [LoggerMessage(1, LogLevel.Warning, "{Caller} was refused {Method}: it lacks the right {Right}")]
    private static partial void LogRefused(ILogger logger, string caller, string method, string right);

    [LoggerMessage(2, LogLevel.Warning, "{Count} further refusals were not logged")]
    private static partial void LogLeftOut(ILogger logger, int count);
}

/// <summary>The rights for the entries that one call appends. Used by one reader of requests.</summary>
internal sealed class EntryAccess(CallerAccess access, ServerCallContext context)
{
    // Entries of one message often name the same streams. Rights may change between messages.
    private readonly HashSet<Demand> _granted = [];

    public void BeginMessage() => _granted.Clear();

    /// <returns>Null: the entry may be appended.</returns>
    public async ValueTask<Exception?> RefusalOfAsync(NewEntry? entry)
    {
        if (!access.IsRequired) return null;
        try
        {
            foreach (var demand in MethodAccess.OfEntry(entry))
            {
                if (_granted.Contains(demand)) continue;
                if (!await access.MayAsync(context, demand)) return access.Refusal(context, demand);
                _granted.Add(demand);
            }

            return null;
        }
        catch (RequestException e)
        {
            return e;
        }
    }
}

/// <summary>Rights that a call needs for as long as it runs: a right that is taken away ends it.</summary>
internal sealed class StandingAccess(
    CallerAccess access, ServerCallContext context, ImmutableArray<Demand> demands, TimeProvider time)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private long _checked = time.GetTimestamp();

    /// <summary>Checks again, once a second at most.</summary>
    /// <exception cref="AccessDeniedException">A right is gone.</exception>
    public async ValueTask RequireAsync()
    {
        if (demands.IsEmpty || time.GetElapsedTime(_checked) < Interval) return;
        _checked = time.GetTimestamp();
        await access.RequireAsync(context, demands);
    }
}

/// <summary>Bounds the log lines about refusals: ten in ten seconds.</summary>
internal sealed class RefusalLog(TimeProvider time)
{
    private const int Lines = 10;
    private static readonly TimeSpan Span = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private long _began;
    private int _count;

    public bool Admits(out int leftOut)
    {
        lock (_gate)
        {
            leftOut = 0;
            if (_count == 0 || time.GetElapsedTime(_began) >= Span)
            {
                leftOut = Math.Max(0, _count - Lines);
                (_began, _count) = (time.GetTimestamp(), 0);
            }

            return ++_count <= Lines;
        }
    }
}

/// <summary>The caller lacks a right. Nothing was done.</summary>
internal sealed class AccessDeniedException(string caller, Demand demand)
    : Exception($"{caller} lacks the right '{TextOf(demand)}'; nothing was done. {Advice(demand)}")
{
    public Demand Demand => demand;

    private static string TextOf(Demand demand) => demand.Resource is { } resource
        ? $"{demand.Policy["corfu.".Length..]} {resource}"
        : demand.Policy["corfu.".Length..];

    private static string Advice(Demand demand) => demand.Policy switch
    {
        CorfuPolicies.Trim or CorfuPolicies.ClusterChange => "Use a certificate of the role admin.",
        CorfuPolicies.ClusterRead => "An operator grants it in access.json by \"cluster\": \"read\".",
        _ => $"An operator grants it in access.json under '{demand.Policy["corfu.".Length..]}'.",
    };
}
