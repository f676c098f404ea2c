"""Graphs of networkx as mechanisms, and back."""

import networkx as nx
import numpy as np
from comparison import groups, same_mechanism
from refusals import refused

import mbssa


def test_a_graph_made_by_hand():
    graph = nx.Graph()
    graph.add_edge("ground", "crank", type="R", driven=1)
    graph.add_edge("crank", "rod", type="R")
    graph.add_edge("rod", "slider", type="R", geometry={"point": np.array([1.0, 0.0])})
    graph.add_edge("slider", "ground", type="P")
    with refused("value at nodes"):
        mbssa.from_networkx(graph, "planar")
    graph = nx.relabel_nodes(graph, {"ground": "frame"})
    mechanism = mbssa.from_networkx(graph, "planar", name="slider")
    assert mechanism.name == "slider"
    assert mechanism.body_names == ("frame", "crank", "rod", "slider")
    assert [bodies for bodies, _ in groups(mechanism)] == [(2,), (3, 4)]
    assert mechanism.joint("3-4").geometry.point == (1.0, 0.0)


def test_numbers_need_no_names_and_keys_are_ids():
    graph = nx.MultiDiGraph(space="spatial")
    graph.add_edge(1, 2, type="C", driven=["angle"])
    graph.add_edge(2, 1, key="second", type="R")
    graph.add_edge(2, 3, key="2-3", type="R", driven=True)
    mechanism = mbssa.from_networkx(graph)
    assert mechanism.body_names is None
    assert mechanism.joint_ids == ("1-2", "2-3", "second") or mechanism.joint_ids == ("1-2", "second", "2-3")
    assert dict(mechanism.joint_names) == {mechanism.joint("second").index: "second"}
    assert mechanism.joint("second").bodies == (2, 1)


def test_a_graph_shares_nothing_with_its_mechanism():
    mechanism = mbssa.load("rotor")
    graph = mbssa.to_networkx(mechanism)
    graph.nodes[9]["geometry"]["points"]["centre"][0] = 99.0
    graph.edges[1, 2, "1-2"]["geometry"]["axis"][0] = 99.0
    same_mechanism(mechanism, mbssa.load("rotor"))


def graph_of(**changes):
    graph = nx.MultiGraph(space="planar")
    graph.add_edge(1, 2, **({"type": "R", "driven": 1} | changes))
    return graph


def test_bad_graphs():
    for graph, fault in [
        (graph_of(type="RR"), "unknown at joint 1 (1, 2) type"),
        (graph_of(type="S"), "unknown at joint 1 (1, 2) type"),
        (graph_of(type=3), "value at joint 1 (1, 2) type"),
        (graph_of(drvien=1), "unknown at edge (1, 2)"),
        (graph_of(driven=2), "value at joint 1 (1, 2) driven"),
        (graph_of(bodies=(1, 3)), "value at edge (1, 2)"),
        (graph_of(bodies=(1,)), "value at edge (1, 2)"),
        (graph_of(bodies=(1, "2")), "value at edge (1, 2)"),
        (graph_of(bodies=(2, 1, "x"), type="EO"), "value at edge (1, 2)"),
        (graph_of(bodies=(2, 1, 7), type="EO"), "unknown at joint 1 (2, 1, 7) bodies"),
        (graph_of(bodies=(2, 1, 2), type="EO"), "duplicate at joint 1 (2, 1, 2) bodies"),
        (graph_of(geometry={"point": [0.0]}), "value at joint 1 (1, 2) point"),
        (graph_of(geometry={"pont": [0.0, 0.0]}), "unknown at joint 1 (1, 2) pont"),
        (graph_of(geometry=[0.0]), "value at edge (1, 2) geometry"),
        (graph_of(geometry={"type": "R"}), "conflict at edge (1, 2) geometry"),
        (nx.MultiGraph(), "missing at space"),
        (nx.path_graph(3), "value at nodes"),
        (nx.path_graph(["frame", 2]), "value at nodes"),
    ]:
        with refused(fault):
            mbssa.from_networkx(graph)


def test_an_edge_without_a_type_and_a_frame_with_geometry():
    with refused("missing at joint 1 (1, 2) type"):
        mbssa.from_networkx(nx.Graph([(1, 2)]), "planar")
    graph = graph_of()
    graph.nodes[1]["geometry"] = {"origin": [0.0, 0.0]}
    with refused("unsupported at node 1"):
        mbssa.from_networkx(graph)
