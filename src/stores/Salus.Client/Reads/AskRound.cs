namespace Salus.Reads;

/// <summary>The end of a round of questions.</summary>
/// <param name="Response">Verified; null where the judgment is not <see cref="Judgment.Good"/>.</param>
internal readonly record struct RoundEnd<TResponse>(Judgment Judgment, TResponse? Response, Epoch Generation);

/// <summary>Asks the members of a region, one after the other: the next one after an answer that is of no use, or after
/// a time without an answer. The first verified answer counts.</summary>
internal sealed class AskRound<TResponse>
    where TResponse : Response
{
    private readonly MemberQuestion<TResponse> _question;
    private readonly RegionRoute _route;
    private readonly AskPorts _ports;
    private readonly CancellationToken _cancellation;
    private readonly TaskCompletionSource<RoundEnd<TResponse>> _end =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly Lock _gate = new();

    // Guarded by _gate: members that were not asked yet, questions without an answer, the worst answer.
    private readonly List<RouteMember> _left;
    private int _running;
    private Judgment _worst = Judgment.Unable;

    public AskRound(MemberQuestion<TResponse> question, RegionRoute route, AskPorts ports,
        CancellationToken cancellationToken)
    {
        (_question, _route, _ports, _cancellation) = (question, route, ports, cancellationToken);
        _left = [.. route.Members];
    }

    /// <summary>Members that answered wrongly, or not at all; complete when the round has ended without an
    /// answer.</summary>
    public List<RouteMember> Silent { get; } = [];

    public async Task<RoundEnd<TResponse>> RunAsync()
    {
        Next();
        if (_end.Task.IsCompleted) return await _end.Task;
        using var impatience = _ports.Time.CreateTimer(
            static round => ((AskRound<TResponse>)round!).Next(), this, _ports.ReadPatience, _ports.ReadPatience);
        using var cancelled = _cancellation.UnsafeRegister(static (round, token) =>
            ((AskRound<TResponse>)round!)._end.TrySetCanceled(token), this);
        return await _end.Task;
    }

    // Asks another member, if there is one.
    private void Next()
    {
        RouteMember? member;
        lock (_gate)
        {
            if (_end.Task.IsCompleted) return;
            member = _ports.Load.Choose(_left);
            if (member is { } chosen)
            {
                if (_left.Count < _route.Members.Length) SalusClientTelemetry.SecondReads.Add(1);
                _left.Remove(chosen);
                _running++;
            }
            else if (_running == 0)
            {
                _end.TrySetResult(new RoundEnd<TResponse>(_worst, null, _route.Generation));
            }
        }

        if (member is { } next) _ports.Loops.Start(() => AskAsync(next));
    }

    private async Task AskAsync(RouteMember member)
    {
        var judgment = Judgment.Unable;
        TResponse? response = null;
        var isSilent = false;
        _ports.Load.Begin(member.Incarnation);
        try
        {
            response = await _ports.Transport.CallAsync(
                member.Address!.Value, _question.At(_route.Generation), _cancellation);
            judgment = _question.Judge(response);
        }
        catch (OperationCanceledException)
        {
            // The round has ended.
        }
        catch (TransportException)
        {
            isSilent = true;
        }
        finally
        {
            _ports.Load.End(member.Incarnation);
        }

        if (judgment == Judgment.Wrong)
            _ports.Suspect(_question.Region.Region, _route.Generation, member.Incarnation, SuspicionKind.WrongAnswer);
        Take(member, judgment, response, isSilent);
    }

    private void Take(RouteMember member, Judgment judgment, TResponse? response, bool isSilent)
    {
        lock (_gate)
        {
            _running--;
            if (isSilent) Silent.Add(member);
            if (judgment is Judgment.Good or Judgment.Changed)
            {
                _end.TrySetResult(new RoundEnd<TResponse>(
                    judgment, judgment == Judgment.Good ? response : null, _route.Generation));
                return;
            }

            if (judgment == Judgment.Wrong) _worst = Judgment.Wrong;
        }

        Next();
    }
}
