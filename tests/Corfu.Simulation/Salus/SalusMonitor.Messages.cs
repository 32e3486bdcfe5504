using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

// Messages: what members sign, and what is said to be committed.
internal sealed partial class SalusMonitor
{
    private readonly HashSet<(VolumeId Volume, int Leader, BatchName Batch, Certificate Certificate)> _seen = [];

    public void Refused(Opcode opcode, Status status) => Mark("request denied");

    public string Describe(Request request) => SalusText.Of(request);

    public string Describe(Response response) => SalusText.Of(response);

    public void Received(MessageInfo message)
    {
    }

    public void Answered(MessageInfo message, Response response)
    {
    }

    public void Sent(SimProcess caller, NodeId to, Request request)
    {
        switch (request)
        {
            case PutBatchRequest put:
                Put(put);
                Proven(caller.Name, put.Region.Volume, put.Commit);
                break;
            case ForwardRequest forward:
                Logged(caller.Name, forward.Head, forward.Signatures);
                Proven(caller.Name, forward.Head.Region.Volume, forward.Commit);
                break;
            case PreparedRequest prepared:
                Signed(caller.Name, prepared.Region, prepared.Epoch, $"{prepared.Batch} prepared", prepared.Signature,
                    Statement.Prepared(prepared.Region, prepared.Epoch, prepared.Batch));
                if (IsCorrect(caller.Name))
                {
                    Found(_signatures.Prepared(caller.Name, $"{prepared.Region}", prepared.Epoch.Value,
                        $"{prepared.Batch}"));
                }

                break;
            case AdoptRequest adopt:
                Logged(caller.Name, adopt.Head, [.. adopt.Signatures.Select(signature => signature.Logged)]);
                break;
            case DecideRequest decide:
                Proven(caller.Name, decide.Leader.Volume, decide.Predecessor);
                break;
            case CommitRequest commit:
                Proven(caller.Name, commit.Region.Volume, commit.Commit);
                break;
            case FenceRequest fence:
                Proven(caller.Name, fence.Region.Volume, fence.Report.Committed);
                break;
            case GetRequest get:
                Proven(caller.Name, get.Region.Volume, get.Commit);
                break;
        }
    }

    public void Answered(SimProcess caller, NodeId to, Request request, Response response)
    {
        var by = MachineOf(new Incarnation(to.Value)) ?? _machineOfStore.GetValueOrDefault(to.Value) ?? $"{to}";
        switch (request, response)
        {
            case (PutBatchRequest put, PutBatchResponse answer):
                Proven(by, put.Region.Volume, answer.Commit);
                break;
            case (VoteRequest vote, CommitResponse answer):
                Proven(by, vote.Leader.Volume, answer.Commit);
                break;
            case (ConfirmRequest confirm, CommitResponse answer):
                Proven(by, confirm.Leader.Volume, answer.Commit);
                break;
            case (RegionStatusRequest status, RegionStatusResponse { IsOk: true } answer):
                Proven(by, status.Region.Volume, answer.Commit);
                if (IsCorrect(MachineOf(new Incarnation(to.Value))))
                    Found(ContentOf(status.Region)?.Told(SalusText.FactOf(answer.Last), $"{answer.Root}", by));
                break;
            case (ListLogRequest list, ListLogResponse { IsOk: true } answer):
                Mark("log listed");
                Proven(by, list.Region.Volume, answer.Commit);
                break;
            case (ForwardRequest forward, ForwardResponse { IsOk: true } answer):
                Logged(by, forward.Head, answer.Signatures);
                break;
            case (FenceRequest fence, FenceResponse answer):
                Proven(by, fence.Region.Volume, answer.Commit);
                break;
            case (GetRequest, GetResponse { Status: Status.Corrupt }):
                Mark("member found damage");
                break;
            case (ReadFileRequest, ReadFileResponse { IsOk: true }):
                Mark("file copied");
                break;
        }
    }

    private void Put(PutBatchRequest put)
    {
        var header = SubBatch.Decode(put.Batch, out _).Header;
        if (header.IsMarker) Mark("marker sent");
        if (header.Participants.Length > 1) Mark("batch of several regions");
        OrderOf(put.Region.Volume).Sent(SalusText.FactOf(header.Name),
            [.. header.Participants.Select(participant => participant.Region)]);
    }

    // The sender's own signature is new; those of members before it were seen when they were sent.
    private void Logged(string sender, RecordHead head, ImmutableArray<WeakSignature> signatures)
    {
        if (!_members.TryGetValue((head.Region, head.Generation), out var members)) return;
        foreach (var signer in members.Select(member => member.Incarnation))
        {
            if (MachineOf(signer) != sender || !IsCorrect(sender)) continue;
            var statement = head.Logged;
            if (!signatures.Any(signature => signature.IsOf(signer, statement))) continue;
            Found(_signatures.Logged(NameOf(signer), $"{head.Region}", head.Generation.Value, head.Index,
                $"{head.Kind} {head.Chain}"));
        }
    }

    private void Signed(string sender, RegionKey region, Epoch generation, string what, WeakSignature signature,
        in Statement statement)
    {
        if (!IsCorrect(sender) || !_members.TryGetValue((region, generation), out var members)) return;
        foreach (var member in members)
        {
            if (MachineOf(member.Incarnation) == sender && signature.IsOf(member.Incarnation, statement))
                Found(_signatures.Signed(NameOf(member.Incarnation), $"{region}", generation.Value, what));
        }
    }

    private void Proven(string by, VolumeId volume, CommitProof? proof)
    {
        if (proof is null || (_machines.TryGetValue(by, out var machine) && machine.IsBad)
            || !_seen.Add((volume, proof.Leader, proof.Batch, proof.Certificate))) return;
        var region = new RegionKey(volume, proof.Leader);
        var statement = Statement.Committed(region, proof.Certificate.Generation, proof.Batch);
        var members = _members.GetValueOrDefault((region, proof.Certificate.Generation), []);
        string[] signers =
        [
            .. members.Where((member, i) => i < proof.Certificate.Signatures.Length
                && proof.Certificate.Signatures[i].IsOf(member.Incarnation, statement))
                .Select(member => NameOf(member.Incarnation)),
        ];
        Found(_signatures.Counted(by, $"{region}", proof.Certificate.Generation.Value, $"{proof.Batch} committed",
            signers));
        Look();
        Found(OrderOf(volume).Committed(SalusText.FactOf(proof.Batch), by, number => StoresOf(volume, number)));
    }
}
