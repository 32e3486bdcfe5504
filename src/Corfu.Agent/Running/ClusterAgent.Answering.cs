using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent;

/// <summary>What other agents and tools ask.</summary>
public sealed partial class ClusterAgent
{
    /// <inheritdoc />
    public void Handle(Request request, ReplyTo reply)
    {
        switch (request)
        {
            case PingRequest ping:
                reply.Send(Answer(ping));
                break;
            case OpinionRequest opinion:
                _ = AnswerAsync(opinion, reply);
                break;
            case AgentInfoRequest:
                reply.Send(Describe());
                break;
            case SetAutomationRequest set:
                Adopt(set.Automation);
                reply.Send(new AckResponse(Status.Ok, EpochNow()));
                break;
            default:
                reply.Send(request.Fail(Status.Unsupported, EpochNow()));
                break;
        }
    }

    private PingResponse Answer(PingRequest ping)
    {
        Meet(ping.From.Endpoint);
        Hint(ping.Epoch);
        Adopt(ping.Automation);
        lock (_gate)
        {
            if (_peers.TryGetValue(ping.From.Endpoint, out var peer) && peer.Agent != ping.From.Id && !peer.IsDescribing && peer.NextDescribe == TimeSpan.MaxValue)
                peer.NextDescribe = Now;
            if (ping.Leaving)
            {
                foreach (var subject in _subjects.Values)
                {
                    if (subject.Address.Endpoint == ping.From.Endpoint) _detector.RecordLeaving(subject.Address.Id, Now);
                }
            }

            return new PingResponse(Status.Ok, _projection?.Epoch ?? Epoch.None, _automation, [.. _peers.Keys]);
        }
    }

    /// <summary>Looks for itself before it answers: its own samples may be an interval old.</summary>
    private async Task AnswerAsync(OpinionRequest request, ReplyTo reply)
    {
        bool hasLooked;
        lock (_gate)
        {
            // Of what it holds gone, or has waited for longer than ever, it has a look under way, and would wait in vain for another.
            hasLooked = _subjects.TryGetValue(request.Subject.Id, out var known) && VerdictOf(known, Now) is var held
                && (held.IsGone || (known.IsLooking && held.Phi >= _options.Detector.SilentPhi / 2));
        }

        var sample = hasLooked ? new ProbeSample(ProbeOutcome.None, default) : await SampleAsync(request.Role, request.Subject, null, _options.OpinionTimeout / 2);
        OpinionResponse opinion;
        lock (_gate)
        {
            var now = Now;
            var id = request.Subject.Id;
            _detector.Record(id, sample, now);
            var verdict = _subjects.TryGetValue(id, out var subject) ? VerdictOf(subject, now) : default;
            var answers = sample.Outcome is ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed;
            var health = sample.Outcome switch
            {
                // What the look shows beyond doubt, though this agent would still wait before it acted on it.
                ProbeOutcome.Refused => NodeHealth.Dead,
                ProbeOutcome.Replaced => NodeHealth.Replaced,
                ProbeOutcome.Failed => NodeHealth.Failed,
                ProbeOutcome.Answered => verdict.Health == NodeHealth.Slow ? NodeHealth.Slow : NodeHealth.Alive,
                ProbeOutcome.Full => NodeHealth.Full,
                ProbeOutcome.None when verdict.IsGone => verdict.Health,
                _ => verdict.IsGone || verdict.Phi >= _options.Detector.SilentPhi / 2 ? NodeHealth.Silent : verdict.Health,
            };
            opinion = new OpinionResponse(Status.Ok, _projection?.Epoch ?? Epoch.None, answers, health, verdict.Why);
        }

        reply.Send(opinion);
    }

    private AgentInfoResponse Describe()
    {
        lock (_gate)
        {
            var now = Now;
            var nodes = ImmutableArray.CreateBuilder<NodeReport>();
            nodes.Add(new NodeReport(Self, NodeRole.Agent, NodeDuty.Serving, NodeHealth.Alive, "answers this"));
            foreach (var subject in _subjects.Values.Take(MessageLimits.MaxItems - 1))
            {
                var verdict = VerdictOf(subject, now);
                nodes.Add(new NodeReport(subject.Address, subject.Role, DutyOf(subject), verdict.Health, verdict.Why));
            }

            return new AgentInfoResponse(Status.Ok, _projection?.Epoch ?? Epoch.None, _automation, _note, nodes.DrainToImmutable(), Work());
        }
    }
}
