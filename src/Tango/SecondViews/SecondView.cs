using Microsoft.Extensions.Logging;
using Tango.Playback;

namespace Tango.SecondViews;

/// <summary>
/// One object's history played into a view of another type (Tango 3.1, Fig. 5b), with a player of its own. It answers
/// no caller, publishes no decision (R20) and writes no checkpoint: the object's hosts do.
/// </summary>
internal sealed class SecondView
{
    private readonly UnitOpenings _openings;
    private readonly ILogger _logger;

    /// <param name="context">Its loader knows where the view can start.</param>
    /// <param name="typeOf">Of the members of the object's unit; null: without a view.</param>
    public SecondView(
        PlaybackContext context, Func<DirectoryEntry, TangoObjectType?> typeOf, CancellationToken lifetime)
    {
        _logger = context.Logger;
        Player = new Player(
            context, decisions => _openings!.TakeUnused(decisions), static _ => { }, lifetime, isObserver: true);
        _openings = new UnitOpenings(
            typeOf, unit => new UnitOpening(unit, Player, context, lifetime), context.Options.RemoteStay,
            context.Options.MaxRemoteUnits, static _ => false, context.Time, context.Loops, context.Calls,
            static _ => { }, static _ => { });
    }

    public Player Player { get; }

    public ValueTask<HostedUnit> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken) =>
        _openings.OpenAsync(members, cancellationToken);

    /// <summary>R22, R23: as for the object itself.</summary>
    public async ValueTask RebuildIfStoppedAsync(HostedUnit unit, CancellationToken cancellationToken)
    {
        if (!unit.Objects.Any(member => Player.Published.Of(member).Stopped is { MayRebuild: true })) return;
        try
        {
            await _openings.RebuildAsync(unit, cancellationToken);
        }
        catch (TangoTrimmedException e)
        {
            _logger.LogWarning(e, "A second view of {Name} cannot be played anew", unit.Objects[0].Name);
        }
    }
}
